package org.djlplan.integration.bench;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import ai.djl.huggingface.translator.TextEmbeddingTranslatorFactory;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDManager;
import ai.djl.pytorch.jni.JniUtils;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import com.google.gson.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.djlplan.integration.contract.Threads;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.report.PlanReport;

/**
 * Embeds texts with variants of an encoder: {@code stock}, a precision of djl-plan, or a name that
 * begins with {@code onnx}. Several variants are timed in turns with one caller, and their vectors
 * are compared with the first one's. A single variant serves some callers at once, and its memory
 * is measured. Prints figures of each variant as JSON.
 */
public final class PrecisionApplication {

    /** Texts of the figures for short texts have at most so many tokens. */
    private static final int SHORT = 32;

    private static final int BATCH = 8;
    private static final int LONG_WORDS = 126;

    private PrecisionApplication() {}

    /** A variant that is loaded. */
    private record Variant(
            String name, ZooModel<String, float[]> model, Predictor<String, float[]> predictor) {

        List<float[]> embed(List<String> texts) throws Exception {
            List<float[]> vectors = new ArrayList<>();
            for (String text : texts) {
                vectors.add(predictor.predict(text));
            }
            return vectors;
        }

        private boolean isChosen() {
            return name.startsWith("onnx")
                    || name.equals("stock")
                    || delegation().origin() != Origin.UNVERIFIED;
        }

        private DelegationReport delegation() {
            return PlanReport.of(model).flatMap(PlanReport::delegation).orElseThrow();
        }
    }

    /** {@code FOLDER THREADS ROUNDS CALLERS VARIANT…}. */
    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        int threads = Integer.parseInt(args[1]);
        int rounds = Integer.parseInt(args[2]);
        System.setProperty("ai.djl.pytorch.num_threads", Integer.toString(threads));
        NDManager.newBaseManager("PyTorch").close();
        JniUtils.setNumThreads(threads);
        List<String> texts = Files.readAllLines(folder.resolve("texts.txt"));
        ProcessMemory memory = new ProcessMemory();
        long idle = memory.residentBytes().orElseThrow();
        List<Variant> variants = new ArrayList<>();
        for (String name : List.of(args).subList(4, args.length)) {
            ZooModel<String, float[]> model = load(folder, name, threads);
            Variant variant = new Variant(name, model, model.newPredictor());
            variants.add(variant);
            // Predicts until the variant serves at its precision.
            for (int round = 0; round < 3 || !variant.isChosen(); round++) {
                List<float[]> unused = variant.embed(texts);
                TimeUnit.MILLISECONDS.sleep(100);
            }
        }
        if (variants.size() > 1) {
            compare(folder, variants, texts, rounds);
            return;
        }
        JsonObject row = new JsonObject();
        row.addProperty("per s", serve(variants.get(0), texts, Integer.parseInt(args[3]), rounds));
        row.addProperty("MB", (memory.residentBytes().orElseThrow() - idle) / 1e6);
        System.out.println(row);
    }

    private static ZooModel<String, float[]> load(Path folder, String variant, int threads)
            throws Exception {
        boolean onnx = variant.startsWith("onnx");
        TextEmbeddingTranslatorFactory stock = new TextEmbeddingTranslatorFactory();
        Criteria.Builder<String, float[]> criteria =
                Criteria.builder()
                        .setTypes(String.class, float[].class)
                        .optModelPath(
                                folder.resolve(variant).resolve(onnx ? "model.onnx" : "model.pt"))
                        .optEngine(onnx ? "OnnxRuntime" : "PyTorch")
                        .optTranslatorFactory(
                                onnx || variant.equals("stock")
                                        ? stock
                                        : PlannedTranslatorFactory.wrap(stock)
                                                .with("delegation.precision", variant)
                                                .with("delegation.profile", "blocking"));
        if (onnx) {
            criteria.optArgument("includeTokenTypes", "true")
                    .optOption("intraOpNumThreads", Integer.toString(threads))
                    .optOption("interOpNumThreads", "1");
        }
        return criteria.build().loadModel();
    }

    private static void compare(Path folder, List<Variant> variants, List<String> texts, int rounds)
            throws Exception {
        List<String> shortTexts = new ArrayList<>();
        try (HuggingFaceTokenizer tokenizer =
                HuggingFaceTokenizer.newInstance(folder.resolve("stock"))) {
            for (String text : texts) {
                if (tokenizer.encode(text).getIds().length <= SHORT) {
                    shortTexts.add(text);
                }
            }
        }
        List<String> batch = Collections.nCopies(BATCH, "rain ".repeat(LONG_WORDS));
        Map<String, Rounds> kinds = new LinkedHashMap<>();
        for (String kind : List.of("all texts ms", "short texts ms", "batch ms")) {
            kinds.put(kind, new Rounds());
        }
        for (Variant variant : variants) {
            kinds.get("all texts ms").step(variant.name, () -> variant.embed(texts));
            kinds.get("short texts ms").step(variant.name, () -> variant.embed(shortTexts));
            kinds.get("batch ms").step(variant.name, () -> variant.predictor.batchPredict(batch));
        }
        for (Rounds each : kinds.values()) {
            each.run(rounds, 0, 1);
        }
        List<float[]> stock = variants.get(0).embed(texts);
        for (Variant variant : variants) {
            List<float[]> own = variant.embed(texts);
            double[] cosines =
                    IntStream.range(0, own.size())
                            .mapToDouble(i -> product(own.get(i), stock.get(i)))
                            .toArray();
            long same =
                    IntStream.range(0, own.size())
                            .filter(i -> nearest(own, i) == nearest(stock, i))
                            .count();
            JsonObject row = new JsonObject();
            row.addProperty(Turns.ROW, variant.name);
            kinds.forEach((kind, each) -> row.addProperty(kind, each.median(variant.name)));
            row.addProperty("least cosine", Arrays.stream(cosines).min().orElseThrow());
            row.addProperty("mean cosine", Arrays.stream(cosines).average().orElseThrow());
            row.addProperty("same nearest", same);
            PlanReport.of(variant.model)
                    .ifPresent(any -> row.addProperty("reason", variant.delegation().reason()));
            System.out.println(row);
        }
    }

    /** Vectors have length 1. */
    private static double product(float[] one, float[] other) {
        return IntStream.range(0, one.length).mapToDouble(i -> (double) one[i] * other[i]).sum();
    }

    private static int nearest(List<float[]> vectors, int of) {
        return IntStream.range(0, vectors.size())
                .filter(i -> i != of)
                .boxed()
                .max(
                        (a, b) ->
                                Double.compare(
                                        product(vectors.get(of), vectors.get(a)),
                                        product(vectors.get(of), vectors.get(b))))
                .orElseThrow();
    }

    /** Returns how many texts callers embed per second, each all texts some times. */
    private static double serve(Variant variant, List<String> texts, int callers, int rounds)
            throws Exception {
        long begin = System.nanoTime();
        List<Integer> counts =
                Threads.all(
                        callers,
                        caller -> {
                            try (Predictor<String, float[]> own = variant.model.newPredictor()) {
                                for (int i = 0; i < rounds * texts.size(); i++) {
                                    float[] unused = own.predict(texts.get(i % texts.size()));
                                }
                            }
                            return rounds * texts.size();
                        });
        int all = counts.stream().mapToInt(Integer::intValue).sum();
        return all / ((System.nanoTime() - begin) / 1e9);
    }
}
