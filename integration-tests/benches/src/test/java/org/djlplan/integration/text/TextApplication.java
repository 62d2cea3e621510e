package org.djlplan.integration.text;

import ai.djl.huggingface.translator.TextEmbeddingTranslatorFactory;
import ai.djl.inference.Predictor;
import ai.djl.modality.nlp.generate.CausalLMOutput;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslatorFactory;
import com.google.gson.JsonObject;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.djlplan.integration.torch.Torch;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.PlanReport;

/**
 * Embeds or generates text with one model, stock or planned, and prints figures as JSON.
 *
 * <p>Usage: {@code stock|planned MODEL burst|batch|serve|SEARCH AT_ONCE ROUNDS}. {@code burst}
 * embeds AT_ONCE texts at once, {@code batch} in one call of {@code batchPredict}, {@code serve} is
 * a web server for AT_ONCE connections, and any other word is a search, which generates AT_ONCE
 * sequences at once.
 */
public final class TextApplication {

    private static final int PROMPT = 8;
    private static final int TOKENS = 256;
    private static final int MOST_WORDS = 150;
    private static final int WARM = 2;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MILLI = 1e6;

    private TextApplication() {}

    public static void main(String[] arguments) throws Exception {
        Torch.threads(1);
        boolean planned = arguments[0].equals("planned");
        Path file = Path.of(arguments[1]);
        int rounds = Integer.parseInt(arguments[4]);
        long idle = status("VmRSS:");
        int atOnce = Integer.parseInt(arguments[3]);
        JsonObject json =
                switch (arguments[2]) {
                    case "burst" -> burst(file, planned, atOnce, rounds);
                    case "batch" -> batch(file, planned, atOnce, rounds);
                    case "serve" -> serve(file, planned, atOnce);
                    default -> generate(file, planned, arguments[2], atOnce, rounds);
                };
        json.addProperty("residentBytes", status("VmRSS:") - idle);
        json.addProperty("peakBytes", status("VmHWM:") - idle);
        System.out.println(json);
    }

    /** Prints the port, and serves until the standard input ends. */
    private static JsonObject serve(Path file, boolean planned, int connections) throws Exception {
        try (ZooModel<String, float[]> model = embedder(file, planned);
                EmbeddingServer server = new EmbeddingServer(model, connections)) {
            System.out.println(server.port());
            while (System.in.read() >= 0) {
                // Waits until the input ends.
            }
            JsonObject json = new JsonObject();
            addReport(json, model);
            return json;
        }
    }

    private static long status(String field) throws Exception {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith(field))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
                    .findFirst()
                    .orElseThrow();
        }
    }

    /**
     * Returns the processor time of the whole process, which stays comparable on a busy machine.
     */
    private static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean)
                        ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    /** Loads an encoder of sentences, planned or stock. */
    static ZooModel<String, float[]> embedder(Path file, boolean planned) throws Exception {
        TranslatorFactory factory = new TextEmbeddingTranslatorFactory();
        return Criteria.builder()
                .setTypes(String.class, float[].class)
                .optEngine("PyTorch")
                .optModelPath(file)
                .optTranslatorFactory(
                        planned
                                ? PlannedTranslatorFactory.wrap(factory)
                                        .with("delegation.enabled", false)
                                : factory)
                .build()
                .loadModel();
    }

    /** Sends the given number of requests of mixed length at once, again and again. */
    private static JsonObject burst(Path file, boolean planned, int callers, int rounds)
            throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(callers);
        try (ZooModel<String, float[]> model = embedder(file, planned)) {
            int hash = 0;
            long since = System.nanoTime();
            for (int round = 0; round < rounds; round++) {
                hash = 31 * hash + burst(model, pool, TextFiles.texts(callers, MOST_WORDS, round));
            }
            double seconds = (System.nanoTime() - since) / NANOS_PER_SECOND;
            JsonObject json = new JsonObject();
            json.addProperty("perSecond", callers * rounds / seconds);
            json.addProperty("hash", hash);
            addReport(json, model);
            return json;
        } finally {
            pool.shutdown();
        }
    }

    /** Embeds texts of mixed length in one call, again and again. */
    private static JsonObject batch(Path file, boolean planned, int texts, int rounds)
            throws Exception {
        try (ZooModel<String, float[]> model = embedder(file, planned);
                Predictor<String, float[]> predictor = model.newPredictor()) {
            long since = System.nanoTime();
            for (int round = 0; round < rounds; round++) {
                int size = predictor.batchPredict(TextFiles.texts(texts, MOST_WORDS, round)).size();
                if (size != texts) {
                    throw new IllegalStateException(size + " embeddings");
                }
            }
            JsonObject json = new JsonObject();
            json.addProperty(
                    "perSecond", texts * rounds / ((System.nanoTime() - since) / NANOS_PER_SECOND));
            addReport(json, model);
            return json;
        }
    }

    private static int burst(
            ZooModel<String, float[]> model, ExecutorService pool, List<String> texts)
            throws Exception {
        CountDownLatch together = new CountDownLatch(texts.size());
        List<Future<float[]>> answers = new ArrayList<>();
        for (String text : texts) {
            answers.add(
                    pool.submit(
                            () -> {
                                Torch.threads(1);
                                together.countDown();
                                together.await();
                                try (Predictor<String, float[]> predictor = model.newPredictor()) {
                                    return predictor.predict(text);
                                }
                            }));
        }
        int hash = 0;
        for (Future<float[]> answer : answers) {
            hash = 31 * hash + Arrays.hashCode(answer.get());
        }
        return hash;
    }

    /** Generates sequences of 256 tokens each, the given number at once in a batch. */
    private static JsonObject generate(
            Path file, boolean planned, String search, int sequences, int rounds) throws Exception {
        Generation generation = Generation.REAL;
        try (ZooModel<NDList, CausalLMOutput> model = generation.load(file, planned);
                Predictor<NDList, CausalLMOutput> predictor = model.newPredictor()) {
            long[] nanos = new long[WARM + rounds];
            long cpu = 0;
            int hash = 0;
            for (int round = 0; round < WARM + rounds; round++) {
                if (round == WARM) {
                    cpu = cpuNanos();
                }
                long since = System.nanoTime();
                hash +=
                        Arrays.hashCode(
                                generation.generate(
                                        predictor, search, sequences, PROMPT, PROMPT + TOKENS));
                nanos[round] = System.nanoTime() - since;
            }
            cpu = cpuNanos() - cpu;
            JsonObject json = new JsonObject();
            double tokens = (double) sequences * TOKENS;
            json.addProperty("firstPerSecond", tokens / (nanos[0] / NANOS_PER_SECOND));
            long[] warm = Arrays.copyOfRange(nanos, WARM, nanos.length);
            Arrays.sort(warm);
            json.addProperty("perSecond", tokens / (warm[warm.length / 2] / NANOS_PER_SECOND));
            json.addProperty("cpuMillisPerToken", cpu / NANOS_PER_MILLI / (rounds * TOKENS));
            json.addProperty("hash", hash);
            addReport(json, model);
            return json;
        }
    }

    private static void addReport(JsonObject json, ZooModel<?, ?> model) {
        PlanReport.of(model)
                .ifPresent(report -> json.addProperty("report", report.predictions().toString()));
    }
}
