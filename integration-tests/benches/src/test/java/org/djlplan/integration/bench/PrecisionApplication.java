package org.djlplan.integration.bench;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import ai.djl.huggingface.translator.TextEmbeddingTranslatorFactory;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDManager;
import ai.djl.pytorch.jni.JniUtils;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import com.google.gson.JsonObject;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.djlplan.integration.contract.Threads;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.report.PlanReport;

/**
 * Embeds texts with variants of an encoder: {@code stock}, a precision of djl-plan, a name that
 * begins with {@code onnx}, or {@code langchain4j} and {@code langchain4j8}, the models in
 * LangChain4j's artifacts. Several variants are timed in turns with one caller, and their vectors
 * are compared with the first one's. A single variant serves some callers at once, and its memory
 * is measured. Prints figures of each variant as JSON.
 */
public final class PrecisionApplication {

    /** Texts of the figures for short texts have at most so many tokens. */
    private static final int SHORT = 32;

    private static final int BATCH = 8;
    private static final int LONG_WORDS = 126;

    private static final String LANGCHAIN4J = "dev.langchain4j.model.embedding.onnx.allminilml6v2";

    private PrecisionApplication() {}

    /** Embeds texts, one after another or together. */
    @FunctionalInterface
    private interface Embedder {

        List<float[]> embed(List<String> texts, boolean together) throws Exception;

        default List<float[]> embed(List<String> texts) throws Exception {
            return embed(texts, false);
        }
    }

    /** A variant that is loaded. LangChain4j's has no model of DJL's. */
    private record Variant(
            String name, Optional<ZooModel<String, float[]>> model, Supplier<Embedder> callers) {

        static Variant of(String name, ZooModel<String, float[]> model) {
            return new Variant(
                    name,
                    Optional.of(model),
                    () -> {
                        Predictor<String, float[]> predictor = model.newPredictor();
                        return (texts, together) -> {
                            if (together) {
                                return predictor.batchPredict(texts);
                            }
                            List<float[]> vectors = new ArrayList<>();
                            for (String text : texts) {
                                vectors.add(predictor.predict(text));
                            }
                            return vectors;
                        };
                    });
        }

        /** Its artifacts are on the class path of the benchmark only. */
        static Variant ofLangChain4j(String name) throws ReflectiveOperationException {
            String bits =
                    name.equals("langchain4j8") ? "q.AllMiniLmL6V2Quantized" : ".AllMiniLmL6V2";
            Object model =
                    Class.forName(LANGCHAIN4J + bits + "EmbeddingModel")
                            .getConstructor()
                            .newInstance();
            Method embed = model.getClass().getMethod("embed", String.class);
            Embedder embedder =
                    (texts, together) -> {
                        List<float[]> vectors = new ArrayList<>();
                        for (String text : texts) {
                            Object response = embed.invoke(model, text);
                            Object content = call(response, "content");
                            vectors.add((float[]) call(content, "vector"));
                        }
                        return vectors;
                    };
            return new Variant(name, Optional.empty(), () -> embedder);
        }

        private static Object call(Object object, String method)
                throws ReflectiveOperationException {
            return object.getClass().getMethod(method).invoke(object);
        }

        private boolean isChosen() {
            return !isPlanned() || delegation().origin() != Origin.UNVERIFIED;
        }

        private boolean isPlanned() {
            return model.flatMap(PlanReport::of).isPresent();
        }

        private DelegationReport delegation() {
            return model.flatMap(PlanReport::of).flatMap(PlanReport::delegation).orElseThrow();
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
            Variant variant =
                    name.startsWith("langchain4j")
                            ? Variant.ofLangChain4j(name)
                            : Variant.of(name, load(folder, name, threads));
            variants.add(variant);
            Embedder embedder = variant.callers.get();
            // Predicts until the variant serves at its precision.
            for (int round = 0; round < 3 || !variant.isChosen(); round++) {
                List<float[]> unused = embedder.embed(texts);
                TimeUnit.MILLISECONDS.sleep(100);
            }
        }
        if (variants.size() > 1) {
            compare(folder, variants, texts, rounds);
            return;
        }
        JsonObject row = new JsonObject();
        int callers = Integer.parseInt(args[3]);
        row.addProperty("per s", serve(variants.get(0), texts, threads, callers, rounds));
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
        Map<String, Rounds> kinds = new TreeMap<>();
        Map<String, Integer> counts =
                Map.of(
                        "ms a text", texts.size(),
                        "ms a short text", shortTexts.size(),
                        "ms a batch", 1);
        counts.keySet().forEach(kind -> kinds.put(kind, new Rounds()));
        for (Variant variant : variants) {
            Embedder embedder = variant.callers.get();
            kinds.get("ms a text").step(variant.name, () -> embedder.embed(texts));
            kinds.get("ms a short text").step(variant.name, () -> embedder.embed(shortTexts));
            kinds.get("ms a batch").step(variant.name, () -> embedder.embed(batch, true));
        }
        for (Rounds each : kinds.values()) {
            each.run(rounds, 0, 1);
        }
        List<float[]> stock = variants.get(0).callers.get().embed(texts);
        for (Variant variant : variants) {
            List<float[]> own = variant.callers.get().embed(texts);
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
            kinds.forEach(
                    (kind, each) ->
                            row.addProperty(kind, each.median(variant.name) / counts.get(kind)));
            row.addProperty(
                    "cosine: least; mean; same nearest",
                    String.format(
                            Locale.ROOT,
                            "%.5f; %.5f; %d",
                            Arrays.stream(cosines).min().orElseThrow(),
                            Arrays.stream(cosines).average().orElseThrow(),
                            same));
            row.addProperty("reason", variant.isPlanned() ? variant.delegation().reason() : "");
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
    private static double serve(
            Variant variant, List<String> texts, int threads, int callers, int rounds)
            throws Exception {
        long begin = System.nanoTime();
        List<Integer> counts =
                Threads.all(
                        callers,
                        caller -> {
                            JniUtils.setNumThreads(threads);
                            Embedder own = variant.callers.get();
                            for (int i = 0; i < rounds; i++) {
                                List<float[]> unused = own.embed(texts);
                            }
                            return rounds * texts.size();
                        });
        int all = counts.stream().mapToInt(Integer::intValue).sum();
        return all / ((System.nanoTime() - begin) / 1e9);
    }
}
