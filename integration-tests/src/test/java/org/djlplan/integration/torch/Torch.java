package org.djlplan.integration.torch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.Model;
import ai.djl.ModelException;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.pytorch.jni.JniUtils;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import ai.djl.translate.TranslatorFactory;
import com.sun.jna.NativeLibrary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.integration.support.Planned;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.report.PlanReport;

/** Loads and runs PyTorch models, planned and stock. */
public final class Torch {

    private static final String CACHE = "DJL_CACHE_DIR";

    private Torch() {}

    /** Sets the number of the engine's threads for each operator that is called on this thread. */
    public static void threads(int threads) {
        // The engine's library must be loaded before.
        NDManager.newBaseManager("PyTorch").close();
        JniUtils.setNumThreads(threads);
        assertEquals(threads, JniUtils.getNumThreads());
    }

    /** Copies a model into a separate folder, because plans are stored beside the model. */
    public static Path copy(TorchScriptModel model, Path folder) throws IOException {
        return copy(model.file(), folder);
    }

    /** Copies a model into a separate folder, because plans are stored beside the model. */
    public static Path copy(Path file, Path folder) throws IOException {
        Path own = Files.createTempDirectory(folder, "model");
        return Files.copy(file, own.resolve(file.getFileName()));
    }

    /** Copies the model with a name, and loads it planned. */
    public static ZooModel<NDList, NDList> load(String name, Path folder)
            throws IOException, ModelException {
        return load(copy(TorchScriptModels.named(name), folder), Map.of());
    }

    /** Loads a file planned, with options given as DJL arguments. */
    public static ZooModel<NDList, NDList> load(Path file, Map<String, ?> arguments)
            throws IOException, ModelException {
        return load(file, NDList.class, Planned.arguments(arguments), Planned.factory(arguments));
    }

    /**
     * Loads a file planned, with the caller's translator factory. It is not rewritten, unless the
     * options are about delegation.
     */
    public static <O> ZooModel<NDList, O> load(
            Path file, Class<O> output, Map<String, ?> arguments, TranslatorFactory factory)
            throws IOException, ModelException {
        Criteria.Builder<NDList, O> criteria = criteria(file, output).optTranslatorFactory(factory);
        Planned.complete(arguments).forEach(criteria::optArgument);
        return criteria.build().loadModel();
    }

    /** Loads a file as stock. */
    public static ZooModel<NDList, NDList> loadStock(Path file) throws IOException, ModelException {
        return criteria(file, NDList.class).build().loadModel();
    }

    private static <O> Criteria.Builder<NDList, O> criteria(Path file, Class<O> output) {
        return Criteria.builder()
                .setTypes(NDList.class, output)
                .optEngine("PyTorch")
                .optModelPath(file);
    }

    /** Predicts once with new arrays, which are all closed when this returns. */
    public static List<Output> predict(
            Predictor<NDList, NDList> predictor, ModelInputs inputs, long seed)
            throws TranslateException {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            return Output.copyOf(predictor.predict(inputs.create(manager, seed)));
        }
    }

    /** Predicts once with a predictor of its own. */
    public static List<Output> predict(
            ZooModel<NDList, NDList> model, ModelInputs inputs, long seed)
            throws TranslateException {
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            return predict(predictor, inputs, seed);
        }
    }

    /** Returns the stock engine's outputs for the inputs of the seeds from 0 on. */
    public static List<List<Output>> stock(Path file, ModelInputs inputs, int seeds)
            throws IOException, ModelException, TranslateException {
        try (ZooModel<NDList, NDList> model = loadStock(file);
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            List<List<Output>> answers = new ArrayList<>();
            for (int seed = 0; seed < seeds; seed++) {
                answers.add(predict(predictor, inputs, seed));
            }
            return answers;
        }
    }

    /**
     * Sets DJL's cache folder. Plans are stored there if a model has no folder, or its folder
     * cannot be written.
     *
     * @return an action that restores the former folder
     */
    public static Runnable useCache(Path folder) {
        Optional<String> before = Optional.ofNullable(System.getProperty(CACHE));
        System.setProperty(CACHE, folder.toString());
        return () ->
                before.ifPresentOrElse(
                        value -> System.setProperty(CACHE, value),
                        () -> System.clearProperty(CACHE));
    }

    /** Returns the report of a planned model. */
    public static PlanReport report(Model model) {
        return PlanReport.of(model).orElseThrow();
    }

    /** Fails unless all arenas of closed models are freed, and all their passes have ended. */
    public static void assertNoArenas() {
        assertEquals(0, passes());
        assertEquals(0, ArenaPool.shared().metric().arenaBytes());
        assertEquals(0, ArenaPool.shared().metric().leased());
    }

    /** Returns how many passes the native library counts; 0 if it is not loaded. */
    private static int passes() {
        String file = System.getProperty("org.djlplan.native.library");
        if (file == null) {
            return 0;
        }
        try (NativeLibrary library = NativeLibrary.getInstance(file)) {
            return library.getFunction("djlplan_torch_passes").invokeInt(new Object[0]);
        }
    }
}
