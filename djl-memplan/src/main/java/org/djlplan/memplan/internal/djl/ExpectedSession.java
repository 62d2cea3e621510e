package org.djlplan.memplan.internal.djl;

import ai.djl.engine.Engine;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.internal.config.GivenOptions;
import org.djlplan.memplan.internal.config.OptionKey;
import org.djlplan.memplan.internal.engine.TfLiteEngineProvider;
import org.djlplan.memplan.internal.runtime.UnsupportedPlatformException;
import org.djlplan.memplan.internal.runtime.ort.OrtAllocator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives the session of an ONNX model our allocator when DJL creates it.
 *
 * <p>DJL loads a model before it calls a translator factory, except to ask whether it supports some
 * types. From that call on, the next session that the thread creates is expected to be the model's.
 * This works if the process has planned an ONNX model already, or has no engine but ONNX Runtime;
 * otherwise the first ONNX model is loaded twice.
 */
final class ExpectedSession {

    private static final Logger logger = LoggerFactory.getLogger(ExpectedSession.class);
    private static final String ONNX_RUNTIME = "OnnxRuntime";
    private static final String TFLITE = "TFLite";

    private static final ThreadLocal<Boolean> EXPECTED = new ThreadLocal<>();

    private static volatile boolean tableReplaced;
    private static volatile boolean tried;

    private ExpectedSession() {}

    /**
     * Announces that this thread is about to load a model.
     *
     * @param given options set by the application's code
     */
    static void expect(Map<String, ?> given) {
        Optional<OrtAllocator.Arrived> unused = arrived();
        Optional<String> enabled = GivenOptions.ofApplication(OptionKey.ENABLED, given);
        if (enabled.isPresent() && enabled.get().equalsIgnoreCase("false")) {
            return;
        }
        try {
            if (!tried && isOnlyEngine()) {
                Engine engine = Engine.getEngine(ONNX_RUNTIME);
                OrtBinding binding = OrtBinding.of(engine);
                if (!engine.defaultDevice().isGpu() && binding.attach().isEmpty()) {
                    prepare(binding);
                }
                tried = true;
            }
            if (tableReplaced) {
                OrtAllocator.expect();
                EXPECTED.set(true);
            }
        } catch (ReflectiveOperationException | RuntimeException | UnsupportedPlatformException e) {
            tried = true;
            logger.debug("ONNX models are loaded twice", e);
        }
    }

    /** Prepares for models to come. The allocator is attached. */
    static void prepare(OrtBinding binding) {
        if (tableReplaced) {
            return;
        }
        try {
            tableReplaced =
                    !Engine.getEngine(ONNX_RUNTIME).defaultDevice().isGpu()
                            && binding.replaceTable();
        } catch (ReflectiveOperationException | RuntimeException e) {
            logger.debug("ONNX models are loaded twice", e);
        }
    }

    private static boolean isOnlyEngine() {
        Set<String> engines = new HashSet<>(Engine.getAllEngines());
        if (!engines.contains(ONNX_RUNTIME)) {
            return false;
        }
        if (!TfLiteEngineProvider.hasLibrary()) {
            engines.remove(TFLITE);
        }
        return engines.equals(Set.of(ONNX_RUNTIME));
    }

    /** Returns the session that this thread has created with our allocator since then. */
    static Optional<OrtAllocator.Arrived> arrived() {
        if (EXPECTED.get() == null) {
            return Optional.empty();
        }
        EXPECTED.remove();
        return OrtAllocator.arrived();
    }
}
