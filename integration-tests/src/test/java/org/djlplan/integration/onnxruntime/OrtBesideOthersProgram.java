package org.djlplan.integration.onnxruntime;

import ai.djl.huggingface.translator.TextEmbeddingTranslatorFactory;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.djlplan.integration.text.TextFiles;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.PlannedTranslatorFactory;

/**
 * Predicts with models of three engines in turns, and with a text model, each planned and stock.
 * Prints whether the outputs are the same, and the memory in the models' reports.
 */
final class OrtBesideOthersProgram {

    private static final int ROUNDS = 10;

    private OrtBesideOthersProgram() {}

    private record Pair(
            String engine,
            Shape shape,
            ZooModel<NDList, NDList> stock,
            ZooModel<NDList, NDList> planned) {

        /** The planned ONNX model cannot be loaded twice: its file is removed. */
        static Pair load(String engine, Path file, Shape shape) throws Exception {
            Path copy = file.resolveSibling("copy-" + file.getFileName());
            Files.copy(file, copy, StandardCopyOption.REPLACE_EXISTING);
            PlannedTranslatorFactory factory = PlannedTranslatorFactory.wrap(new NoopTranslator());
            return new Pair(
                    engine,
                    shape,
                    criteria(engine, file).optTranslator(new NoopTranslator()).build().loadModel(),
                    criteria(engine, copy)
                            .optTranslatorFactory(
                                    engine.equals("OnnxRuntime")
                                            ? new OrtModels.Removing(factory, copy)
                                            : factory)
                            .build()
                            .loadModel());
        }

        boolean same(int number) throws Exception {
            return predict(stock, number).equals(predict(planned, number));
        }

        private List<ByteBuffer> predict(ZooModel<NDList, NDList> model, int number)
                throws Exception {
            try (NDManager manager = model.getNDManager().newSubManager();
                    Predictor<NDList, NDList> predictor = model.newPredictor()) {
                return OrtModels.bytes(
                        predictor.predict(
                                new NDList(OrtModels.floats(manager, new Random(number), shape))));
            }
        }
    }

    private static Criteria.Builder<NDList, NDList> criteria(String engine, Path file) {
        return Criteria.builder()
                .setTypes(NDList.class, NDList.class)
                .optModelPath(file)
                .optEngine(engine);
    }

    /**
     * Predicts with all models, planned and as stock.
     *
     * @param arguments files of a TensorFlow Lite, a TorchScript, an ONNX and a text model
     */
    public static void main(String[] arguments) throws Exception {
        List<Pair> pairs =
                List.of(
                        Pair.load("TFLite", Path.of(arguments[0]), new Shape(1, 16, 16, 8)),
                        Pair.load("PyTorch", Path.of(arguments[1]), new Shape(1, 3, 32, 32)),
                        Pair.load("OnnxRuntime", Path.of(arguments[2]), new Shape(1, 3, 64, 64)));
        for (Pair pair : pairs) {
            int same = 0;
            for (int i = 0; i < ROUNDS; i++) {
                same += pair.same(i) ? 1 : 0;
            }
            PlanHandle plan = PlanHandle.of(pair.planned()).orElseThrow();
            System.out.println(
                    pair.engine()
                            + ": "
                            + same
                            + " same, "
                            + plan.report().unplannedReason().orElse("planned"));
        }
        long total = PlannedModels.pools().arenas().bytes();
        for (Pair pair : pairs) {
            PlanHandle plan = PlanHandle.of(pair.planned()).orElseThrow();
            long arenas = plan.memory().orElseThrow().arenasBytes();
            System.out.println(
                    pair.engine() + ": " + (arenas >= total && total > 0 ? "one total" : arenas));
        }
        embed(Path.of(arguments[3]));
        Runtime.getRuntime().halt(0);
    }

    private static void embed(Path file) throws Exception {
        List<String> texts = TextFiles.texts(ROUNDS, 30, 1);
        List<String> expected = embed(file, texts, false);
        System.out.println(
                "texts: " + (expected.equals(embed(file, texts, true)) ? "same" : "different"));
    }

    private static List<String> embed(Path file, List<String> texts, boolean planned)
            throws Exception {
        TextEmbeddingTranslatorFactory factory = new TextEmbeddingTranslatorFactory();
        try (ZooModel<String, float[]> model =
                        Criteria.builder()
                                .setTypes(String.class, float[].class)
                                .optModelPath(file)
                                .optEngine("OnnxRuntime")
                                .optTranslatorFactory(
                                        planned ? PlannedTranslatorFactory.wrap(factory) : factory)
                                .build()
                                .loadModel();
                Predictor<String, float[]> predictor = model.newPredictor()) {
            List<String> all = new ArrayList<>();
            for (String text : texts) {
                all.add(Arrays.toString(predictor.predict(text)));
            }
            for (float[] each : predictor.batchPredict(texts)) {
                all.add(Arrays.toString(each));
            }
            Optional<PlanHandle> plan = PlanHandle.of(model);
            if (planned != plan.map(p -> p.report().predictions().online() > 0).orElse(false)) {
                throw new IllegalStateException(plan.map(PlanHandle::report).toString());
            }
            return all;
        }
    }
}
