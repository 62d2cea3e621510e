package org.djlplan.integration.text;

import ai.djl.huggingface.translator.TextEmbeddingTranslatorFactory;
import ai.djl.inference.Predictor;
import ai.djl.modality.nlp.generate.CausalLMOutput;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslatorFactory;
import com.google.gson.JsonObject;
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.djlplan.integration.contract.Threads;
import org.djlplan.integration.torch.Torch;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.internal.runtime.ProcessMemory;

/**
 * Embeds or generates text with one model, stock or planned, and prints figures as JSON.
 *
 * <p>Usage: {@code stock|planned MODEL embed|burst|batch|SEARCH AT_ONCE ROUNDS}. {@code embed} has
 * AT_ONCE callers, each of which embeds ROUNDS texts one after another; {@code burst} embeds
 * AT_ONCE texts at once, {@code batch} in one call of {@code batchPredict}; any other word is a
 * search, which generates AT_ONCE sequences at once.
 */
public final class TextApplication {

    private static final int PROMPT = 8;
    private static final int TOKENS = 256;
    private static final int MOST_WORDS = 150;
    private static final int WARM = 2;

    private TextApplication() {}

    public static void main(String[] arguments) throws Exception {
        Torch.threads(1);
        boolean planned = arguments[0].equals("planned");
        Path file = Path.of(arguments[1]);
        int atOnce = Integer.parseInt(arguments[3]);
        int rounds = Integer.parseInt(arguments[4]);
        ProcessMemory memory = new ProcessMemory();
        long idle = memory.residentBytes().orElseThrow();
        String what = arguments[2];
        JsonObject json =
                List.of("embed", "burst", "batch").contains(what)
                        ? embed(file, planned, what, atOnce, rounds)
                        : generate(file, planned, what, atOnce, rounds);
        json.addProperty("MB", (memory.residentBytes().orElseThrow() - idle) / 1e6);
        json.addProperty("peak MB", (memory.peakBytes().orElseThrow() - idle) / 1e6);
        System.out.println(json);
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

    private static JsonObject embed(Path file, boolean planned, String what, int atOnce, int rounds)
            throws Exception {
        long[] nanos = new long[atOnce * rounds];
        int hash = 0;
        try (ZooModel<String, float[]> model = embedder(file, planned)) {
            long since = System.nanoTime();
            for (int round = 0; round < (what.equals("embed") ? 1 : rounds); round++) {
                List<String> texts = TextFiles.texts(nanos.length, MOST_WORDS, round);
                int first = round * atOnce;
                hash +=
                        switch (what) {
                            case "embed" -> embed(model, texts, atOnce, 0, nanos);
                            case "burst" ->
                                    embed(model, texts.subList(0, atOnce), atOnce, first, nanos);
                            default -> batch(model, texts.subList(0, atOnce), nanos, round);
                        };
            }
            double seconds = (System.nanoTime() - since) / 1e9;
            Arrays.sort(nanos);
            JsonObject json = new JsonObject();
            json.addProperty("per s", nanos.length / seconds);
            json.addProperty("p50 ms", nanos[nanos.length / 2] / 1e6);
            json.addProperty("p99 ms", nanos[nanos.length * 99 / 100] / 1e6);
            json.addProperty("outputs", hash);
            return json;
        }
    }

    /** Embeds texts on some threads, and returns a hash of the embeddings. */
    private static int embed(
            ZooModel<String, float[]> model,
            List<String> texts,
            int callers,
            int first,
            long[] nanos)
            throws Exception {
        return Threads.all(
                        callers,
                        caller -> {
                            Torch.threads(1);
                            int hash = 0;
                            try (Predictor<String, float[]> predictor = model.newPredictor()) {
                                for (int i = caller; i < texts.size(); i += callers) {
                                    long since = System.nanoTime();
                                    hash += Arrays.hashCode(predictor.predict(texts.get(i)));
                                    nanos[first + i] = System.nanoTime() - since;
                                }
                            }
                            return hash;
                        })
                .stream()
                .mapToInt(Integer::intValue)
                .sum();
    }

    private static int batch(
            ZooModel<String, float[]> model, List<String> texts, long[] nanos, int round)
            throws Exception {
        try (Predictor<String, float[]> predictor = model.newPredictor()) {
            long since = System.nanoTime();
            List<float[]> embeddings = predictor.batchPredict(texts);
            nanos[round] = System.nanoTime() - since;
            return embeddings.size();
        }
    }

    /** Generates sequences of 256 tokens each, the given number at once in a batch. */
    private static JsonObject generate(
            Path file, boolean planned, String search, int sequences, int rounds) throws Exception {
        Generation generation = Generation.REAL;
        OperatingSystemMXBean system =
                ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        try (ZooModel<NDList, CausalLMOutput> model = generation.load(file, planned);
                Predictor<NDList, CausalLMOutput> predictor = model.newPredictor()) {
            long[] nanos = new long[WARM + rounds];
            long cpu = 0;
            int hash = 0;
            for (int round = 0; round < WARM + rounds; round++) {
                cpu = round == WARM ? system.getProcessCpuTime() : cpu;
                long since = System.nanoTime();
                hash +=
                        Arrays.hashCode(
                                generation.generate(
                                        predictor, search, sequences, PROMPT, PROMPT + TOKENS));
                nanos[round] = System.nanoTime() - since;
            }
            cpu = system.getProcessCpuTime() - cpu;
            double tokens = (double) sequences * TOKENS;
            JsonObject json = new JsonObject();
            json.addProperty("first tokens per s", tokens / (nanos[0] / 1e9));
            long[] warm = Arrays.copyOfRange(nanos, WARM, nanos.length);
            Arrays.sort(warm);
            json.addProperty("tokens per s", tokens / (warm[warm.length / 2] / 1e9));
            json.addProperty("CPU ms per token", cpu / 1e6 / (rounds * TOKENS));
            json.addProperty("outputs", hash);
            return json;
        }
    }
}
