package org.djlplan.memplan.internal.events;

import java.util.function.Supplier;
import jdk.jfr.FlightRecorder;

/**
 * Emits events for JDK Flight Recorder, named {@code djlplan.*}. If the JVM has no recorder, no
 * events are emitted. While no recording runs, the class costs almost nothing.
 */
public final class FlightRecord {

    /** An image made by jlink may lack the recorder. */
    private static final boolean AVAILABLE = ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private FlightRecord() {}

    /**
     * Returns whether events may be recorded. Before a recording starts, only the class that
     * detects it is loaded.
     */
    public static boolean isOn() {
        return AVAILABLE && FlightRecorder.isInitialized();
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

    /**
     * Emits an event {@code djlplan.Wait} for a wait of this thread that has just ended.
     *
     * @param nanos duration of the wait
     */
    static void waited(Waits.Lack lack, long nanos) {
        if (isOn()) {
            WaitEvent.record(lack.name(), nanos);
        }
    }

    /**
     * Emits an event {@code djlplan.Delegation} when the serving choice of a model changes.
     *
     * @param file the model's file
     * @param operators number of operators of the model
     * @param delegated number of delegated operators
     * @param threads number of threads of a prediction
     * @param origin UNVERIFIED, VERIFIED, MEASURED or STORED
     */
    public static void delegation(
            String file, int operators, int delegated, int threads, String origin) {
        if (isOn()) {
            DelegationEvent.record(file, operators, delegated, threads, origin);
        }
    }
}
