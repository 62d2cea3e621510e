package org.djlplan.integration.rewrite;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import ai.djl.huggingface.translator.TextEmbeddingTranslatorFactory;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDManager;
import ai.djl.pytorch.jni.JniUtils;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.math.Quantiles;

/**
 * Embeds sentences through DJL's translator.
 *
 * <p>{@code FOLDER THREADS SECONDS CALLERS VARIANT…}: a variant is {@code stock}, a precision, or
 * {@code onnx} and {@code onnx8} for ONNX Runtime with floats and with 8 bits. Several variants are
 * timed in turns with one caller, and their vectors are compared with the first one's. A single
 * variant runs with some callers at once, and its memory is measured.
 */
public final class PrecisionApplication {

    /** Texts of the figures for short texts have at most so many tokens. */
    private static final int SHORT = 32;

    private static final int BATCH = 8;
    private static final int LONG_WORDS = 126;
    private static final int LEAST_ROUNDS = 5;

    private PrecisionApplication() {}

    /** A variant that is loaded. */
    private record Variant(
            String name, ZooModel<String, float[]> model, Predictor<String, float[]> predictor) {}

    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        int threads = Integer.parseInt(args[1]);
        System.setProperty("ai.djl.pytorch.num_threads", Integer.toString(threads));
        NDManager.newBaseManager("PyTorch").close();
        JniUtils.setNumThreads(threads);
        long nanos = TimeUnit.SECONDS.toNanos(Long.parseLong(args[2]));
        int callers = Integer.parseInt(args[3]);
        List<String> names = List.of(args).subList(4, args.length);
        List<String> texts = Files.readAllLines(folder.resolve("texts.txt"));
        long idle = residentBytes();
        List<Variant> variants = new ArrayList<>();
        for (String name : names) {
            ZooModel<String, float[]> model = load(folder, name, threads);
            Variant variant = new Variant(name, model, model.newPredictor());
            variants.add(variant);
            warmUp(variant, texts);
        }
        if (variants.size() == 1) {
            serve(variants.get(0), texts, callers, nanos, idle);
        } else {
            compare(variants, texts);
            time(folder, variants, texts, nanos);
        }
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

    /** Predicts until the variant serves at its precision. */
    private static void warmUp(Variant variant, List<String> texts) throws Exception {
        boolean chosen = variant.name().startsWith("onnx") || variant.name().equals("stock");
        for (int round = 0; round < 3 || !chosen; round++) {
            for (String text : texts) {
                float[] unused = variant.predictor().predict(text);
            }
            if (!chosen) {
                chosen =
                        PlanReport.of(variant.model())
                                .flatMap(PlanReport::delegation)
                                .filter(report -> report.origin() != Origin.UNVERIFIED)
                                .isPresent();
                TimeUnit.MILLISECONDS.sleep(100);
            }
        }
        if (PlanReport.of(variant.model()).isPresent()) {
            DelegationReport report =
                    PlanReport.of(variant.model()).orElseThrow().delegation().orElseThrow();
            System.out.printf("chosen %s %s%n", variant.name(), report.reason());
        }
    }

    private static void compare(List<Variant> variants, List<String> texts) throws Exception {
        List<float[]> stock = embed(variants.get(0), texts);
        for (Variant variant : variants) {
            List<float[]> own = embed(variant, texts);
            double[] cosines =
                    IntStream.range(0, own.size())
                            .mapToDouble(i -> product(own.get(i), stock.get(i)))
                            .toArray();
            long same =
                    IntStream.range(0, own.size())
                            .filter(i -> nearest(own, i) == nearest(stock, i))
                            .count();
            System.out.printf(
                    Locale.ROOT,
                    "compared %s %.5f %.5f %d%n",
                    variant.name(),
                    Arrays.stream(cosines).min().orElseThrow(),
                    Arrays.stream(cosines).average().orElseThrow(),
                    same);
        }
    }

    private static List<float[]> embed(Variant variant, List<String> texts) throws Exception {
        List<float[]> vectors = new ArrayList<>();
        for (String text : texts) {
            vectors.add(variant.predictor().predict(text));
        }
        return vectors;
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

    private static void time(Path folder, List<Variant> variants, List<String> texts, long nanos)
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
        List<String> batch =
                Stream.generate(() -> "rain ".repeat(LONG_WORDS)).limit(BATCH).toList();
        Map<String, List<Double>> times = new LinkedHashMap<>();
        long begin = System.nanoTime();
        for (int round = 0; round < LEAST_ROUNDS || System.nanoTime() - begin < nanos; round++) {
            for (Variant variant : variants) {
                time(times, variant, "all", texts);
                time(times, variant, "short", shortTexts);
                long start = System.nanoTime();
                List<float[]> unused = variant.predictor().batchPredict(batch);
                add(times, variant, "batch", System.nanoTime() - start, 1);
            }
        }
        times.forEach(
                (key, values) ->
                        System.out.printf(
                                Locale.ROOT,
                                "timed %s %.3f%n",
                                key,
                                Quantiles.median().compute(values)));
    }

    private static void time(
            Map<String, List<Double>> times, Variant variant, String kind, List<String> texts)
            throws Exception {
        long start = System.nanoTime();
        List<float[]> unused = embed(variant, texts);
        add(times, variant, kind, System.nanoTime() - start, texts.size());
    }

    private static void add(
            Map<String, List<Double>> times, Variant variant, String kind, long nanos, int texts) {
        times.computeIfAbsent(kind + ' ' + variant.name(), key -> new ArrayList<>())
                .add(nanos / 1e6 / texts);
    }

    private static void serve(
            Variant variant, List<String> texts, int callers, long nanos, long idle)
            throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(callers);
        long end = System.nanoTime() + nanos;
        List<Future<Integer>> running = new ArrayList<>();
        for (int caller = 0; caller < callers; caller++) {
            running.add(
                    pool.submit(
                            () -> {
                                int count = 0;
                                try (Predictor<String, float[]> own =
                                        variant.model().newPredictor()) {
                                    while (System.nanoTime() < end) {
                                        float[] unused =
                                                own.predict(texts.get(count++ % texts.size()));
                                    }
                                }
                                return count;
                            }));
        }
        int all = 0;
        for (Future<Integer> each : running) {
            all += each.get();
        }
        pool.shutdown();
        System.out.printf(
                Locale.ROOT, "served %.1f %d%n", all / (nanos / 1e9), residentBytes() - idle);
    }

    private static long residentBytes() throws Exception {
        String line =
                Files.readAllLines(Path.of("/proc/self/status")).stream()
                        .filter(each -> each.startsWith("VmRSS:"))
                        .findFirst()
                        .orElseThrow();
        return Long.parseLong(line.replaceAll("\\D", "")) << 10;
    }
}
