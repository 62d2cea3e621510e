package org.djlplan.memplan.events;

import java.util.function.Supplier;
import jdk.jfr.FlightRecorder;

/**
 * Events for JDK Flight Recorder, named {@code djlplan.*}: nothing where the JVM has no recorder,
 * and next to nothing while none is on.
 */
public final class FlightRecord {

    /** An image made by jlink may lack it. */
    private static final boolean AVAILABLE = ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private FlightRecord() {}

    /**
     * Returns whether events may be wanted. Until somebody records, nothing of the recorder is
     * loaded but what tells that.
     */
    public static boolean isOn() {
        return AVAILABLE && FlightRecorder.isInitialized();
    }

    /**
     * Runs a forward pass, which becomes an event {@code djlplan.Prediction} if it takes long
     * enough for the recorder's threshold.
     *
     * @param model its name
     * @param engine its engine's name
     */
    public static <T> T prediction(String model, String engine, Supplier<T> pass) {
        return isOn() ? PredictionEvent.record(model, engine, pass) : pass.get();
    }

    /**
     * Makes an event {@code djlplan.Wait} of what this thread waited for until now.
     *
     * @param nanos how long
     */
    static void waited(Waits.Lack lack, long nanos) {
        if (isOn()) {
            WaitEvent.record(lack.name(), nanos);
        }
    }

    /**
     * Makes an event {@code djlplan.Delegation}: from now on, a model serves so.
     *
     * @param file the model's
     * @param operators how many it has
     * @param delegated how many of them run in the delegate
     * @param threads of a prediction
     * @param origin why: UNVERIFIED, VERIFIED, MEASURED or STORED
     */
    public static void delegation(
            String file, int operators, int delegated, int threads, String origin) {
        if (isOn()) {
            DelegationEvent.record(file, operators, delegated, threads, origin);
        }
    }
}
