package org.djlplan.memplan.internal.events;

import java.util.function.Supplier;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PoolReport;

/**
 * Emits events for JDK Flight Recorder, named {@code djlplan.*}. If the JVM has no recorder, no
 * events are emitted. While no recording runs, the class costs almost nothing, because the classes
 * of events are not loaded.
 */
@SuppressWarnings("UnusedVariable") // the recorder reads the fields
public final class FlightRecord {

    private static final long LEAST_WAIT_NANOS = 1_000_000;

    /** An image made by jlink may lack the recorder. */
    private static final boolean AVAILABLE = ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private FlightRecord() {}

    private static boolean isOn() {
        return AVAILABLE && FlightRecorder.isInitialized();
    }

    @Name("djlplan.Prediction")
    @Label("Prediction")
    @Category("djl-plan")
    @Description("A forward pass of a planned model, with what it waited for")
    @Threshold("10 ms")
    @StackTrace(false)
    private static final class PredictionEvent extends Event {

        @Label("Model")
        private String model;

        @Label("Engine")
        private String engine;

        private static <T> T record(String model, String engine, Supplier<T> pass) {
            PredictionEvent event = new PredictionEvent();
            if (!event.isEnabled()) {
                return pass.get();
            }
            event.begin();
            try {
                return pass.get();
            } finally {
                event.model = model;
                event.engine = engine;
                event.commit();
            }
        }
    }

    /**
     * Runs a forward pass, which becomes an event {@code djlplan.Prediction} if it exceeds the
     * recorder's threshold.
     *
     * @param model its name
     * @param engine its engine's name
     */
    public static <T> T prediction(String model, String engine, Supplier<T> pass) {
        return isOn() ? PredictionEvent.record(model, engine, pass) : pass.get();
    }

    @Name("djlplan.Wait")
    @Label("Wait")
    @Category("djl-plan")
    @Description("A prediction waited for others")
    @StackTrace(false)
    private static final class WaitEvent extends Event {

        @Label("Lack")
        @Description("What there were too few of")
        private String lack;

        @Label("Time")
        @Timespan(Timespan.NANOSECONDS)
        private long time;

        private static void record(PoolReport.Cause cause, long nanos) {
            WaitEvent event = new WaitEvent();
            event.lack = cause.name();
            event.time = nanos;
            event.commit();
        }
    }

    /**
     * Emits an event {@code djlplan.Wait} for a wait of this thread that has just ended.
     *
     * @param nanos duration of the wait
     */
    static void waited(PoolReport.Cause cause, long nanos) {
        if (nanos >= LEAST_WAIT_NANOS && isOn()) {
            WaitEvent.record(cause, nanos);
        }
    }

    @Name("djlplan.Delegation")
    @Label("Delegation")
    @Category("djl-plan")
    @Description("What of a model runs in the engine's delegate from now on")
    @StackTrace(false)
    private static final class DelegationEvent extends Event {

        @Label("File")
        private String file;

        @Label("Operators")
        private int operators;

        @Label("Delegated Operators")
        private int delegatedOperators;

        @Label("Threads")
        private int threads;

        @Label("Origin")
        private String origin;

        private static void record(String file, DelegationReport now) {
            DelegationEvent event = new DelegationEvent();
            event.file = file;
            event.operators = now.operators();
            event.delegatedOperators = now.delegatedOperators();
            event.threads = now.threads();
            event.origin = now.origin().name();
            event.commit();
        }
    }

    /**
     * Emits an event {@code djlplan.Delegation} when the serving choice of a model changes.
     *
     * @param file the model's file
     * @param now returns what is delegated
     */
    public static void delegation(String file, Supplier<DelegationReport> now) {
        if (isOn()) {
            DelegationEvent.record(file, now.get());
        }
    }
}
