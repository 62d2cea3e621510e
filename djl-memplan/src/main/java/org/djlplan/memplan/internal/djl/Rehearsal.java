package org.djlplan.memplan.internal.djl;

import java.util.concurrent.atomic.AtomicBoolean;
import org.djlplan.memplan.internal.engine.TfLiteEngineProvider;
import org.djlplan.memplan.internal.runtime.NativeLoader;
import org.djlplan.memplan.internal.runtime.Workers;
import org.djlplan.memplan.internal.runtime.torch.TorchMemory;
import org.djlplan.memplan.internal.serving.TfLiteRehearsal;
import org.djlplan.memplan.internal.thread.DaemonThreads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads the native library and the classes of planning and predictions, once per JVM, while DJL
 * loads its engine. Otherwise the first model of a JVM would wait for them. Classes for one
 * engine's models are loaded only if the model is of that engine; otherwise they would take time
 * and memory for nothing.
 */
final class Rehearsal {

    private static final Logger logger = LoggerFactory.getLogger(Rehearsal.class);
    private static final String TFLITE = "ai.djl.tflite.engine.TfLiteEngine";
    private static final String PYTORCH = "ai.djl.pytorch.engine.PtEngine";
    private static final AtomicBoolean STARTED = new AtomicBoolean();

    private Rehearsal() {}

    /** Starts in the background, unless it was already started. */
    static void start() {
        if (!STARTED.getAndSet(true)) {
            inBackground(Rehearsal::common);
            TfLiteEngineProvider.whenAskedFor(() -> inBackground(TfLiteRehearsal::run));
        }
    }

    private interface Step {
        void run() throws Exception;
    }

    private static void inBackground(Step step) {
        Thread thread = DaemonThreads.make(() -> run(step), "djl-plan-warm-up");
        try {
            thread.start();
        } catch (OutOfMemoryError e) {
            logger.debug("no thread can be started", e);
        }
    }

    private static void run(Step step) {
        try {
            step.run();
        } catch (Exception | LinkageError | OutOfMemoryError e) {
            // Later code that needs it will report the error.
            logger.debug("not warmed up", e);
        }
    }

    private static void common() throws Exception {
        NativeLoader.preload();
        Workers.warmUp();
        if (isOnTheClassPath(TFLITE)) {
            // DJL may load its own engine without asking our provider.
            TfLiteRehearsal.run();
        } else if (!TfLiteEngineProvider.hasLibrary() && isOnTheClassPath(PYTORCH)) {
            TorchMemory.rehearse();
        }
    }

    private static boolean isOnTheClassPath(String engine) {
        try {
            return Class.forName(engine, false, Rehearsal.class.getClassLoader()) != null;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}
