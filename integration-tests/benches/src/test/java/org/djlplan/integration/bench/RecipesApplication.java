package org.djlplan.integration.bench;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.pytorch.jni.JniUtils;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import com.google.gson.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.rewrite.Recipe;
import org.djlplan.memplan.internal.rewrite.RecipeTrials;
import org.djlplan.memplan.internal.rewrite.SampleInputs;
import org.djlplan.memplan.internal.rewrite.SampleInputs.Frequent;
import org.djlplan.memplan.internal.rewrite.SampledRequests;
import org.djlplan.memplan.internal.store.FileIdentity;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.math.Quantiles;
import org.djlplan.thirdparty.guava.primitives.Longs;

/**
 * Lets djl-plan choose a recipe for a model, then times stock and all recipes in turns. Prints the
 * figures of each as JSON, and the choice.
 */
public final class RecipesApplication {

    private static final int LEAST_ROUNDS = 7;
    private static final int WORDS = 1000;

    private RecipesApplication() {}

    /** {@code FILE INPUTS THREADS SECONDS}. */
    public static void main(String[] args) throws Exception {
        Path file = Path.of(args[0]);
        int threads = Integer.parseInt(args[2]);
        System.setProperty("ai.djl.pytorch.num_threads", Integer.toString(threads));
        long nanos = TimeUnit.SECONDS.toNanos(Long.parseLong(args[3]));
        SampleInputs sample = sample(args[1]);
        String chosen = choice(file, sample, threads);
        SampledRequests requests = new SampledRequests(List.of(new Frequent(sample, 1)));
        try (RecipeTrials trials =
                RecipeTrials.open(file, FileIdentity.text(file), requests, Tolerance.AUTO)) {
            time(trials, chosen, threads, nanos);
        }
    }

    /**
     * Returns the inputs of a text such as {@code 1,3,224,224} for floats or {@code
     * 2,64:tokens/2,64:ones} for token numbers and a mask.
     */
    static SampleInputs sample(String text) {
        Random random = new Random(1);
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDList inputs = new NDList();
            List<ArrayType> types = new ArrayList<>();
            for (String each : text.split("/", -1)) {
                String[] parts = each.split(":", -1);
                long[] shape =
                        Arrays.stream(parts[0].split(",")).mapToLong(Long::parseLong).toArray();
                int size = Math.toIntExact(new Shape(shape).size());
                boolean floats = parts.length == 1;
                boolean ones = !floats && parts[1].equals("ones");
                NDArray array =
                        floats
                                ? manager.create(floats(random, size), new Shape(shape))
                                : manager.create(
                                        LongStream.generate(() -> ones ? 1 : random.nextInt(WORDS))
                                                .limit(size)
                                                .toArray(),
                                        new Shape(shape));
                inputs.add(array);
                types.add(new ArrayType(floats ? "float32" : "int64", Longs.asList(shape)));
            }
            return SampleInputs.copyOf(types, inputs);
        }
    }

    private static float[] floats(Random random, int size) {
        float[] values = new float[size];
        for (int i = 0; i < size; i++) {
            values[i] = random.nextFloat() - 0.5f;
        }
        return values;
    }

    private static String choice(Path file, SampleInputs sample, int threads) throws Exception {
        Criteria<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optModelPath(file)
                        .optEngine("PyTorch")
                        .optTranslatorFactory(
                                PlannedTranslatorFactory.wrap(new NoopTranslator(null))
                                        .with("delegation.profile", "blocking"))
                        .build();
        NDManager.newBaseManager("PyTorch").close();
        JniUtils.setNumThreads(threads);
        try (ZooModel<NDList, NDList> model = criteria.loadModel();
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDList unused = predictor.predict(sample.create(manager));
            return PlanReport.of(model).orElseThrow().delegation().orElseThrow().delegate();
        }
    }

    private static void time(RecipeTrials trials, String chosen, int threads, long nanos)
            throws Exception {
        Map<Candidate, Trial> running = new HashMap<>();
        Map<Candidate, Double> built = new HashMap<>();
        List<Candidate> all = new ArrayList<>(List.of(Candidate.cpu(threads)));
        Recipe.all().forEach(recipe -> all.add(Candidate.ofRecipe(recipe.name(), threads)));
        for (Candidate each : all) {
            long start = System.nanoTime();
            try {
                running.put(each, trials.prepare(each));
                built.put(each, (System.nanoTime() - start) / 1e6);
            } catch (CandidateException e) {
                System.out.println("refused " + each.recipe() + ' ' + e.getMessage());
            }
        }
        Map<Candidate, List<Long>> times = new HashMap<>();
        long begin = System.nanoTime();
        for (int round = 0; round < LEAST_ROUNDS || System.nanoTime() - begin < nanos; round++) {
            for (Candidate each : running.keySet()) {
                times.computeIfAbsent(each, e -> new ArrayList<>()).add(trials.time(each, 1)[0]);
            }
        }
        for (Candidate each : all) {
            if (running.containsKey(each)) {
                Trial trial = running.get(each);
                JsonObject row = new JsonObject();
                row.addProperty(Turns.ROW, each.isStock() ? "stock" : each.recipe());
                row.addProperty("ms", Quantiles.median().compute(times.get(each)) / 1e6);
                row.addProperty("MB", trial.memoryBytes() / 1e6);
                row.addProperty("build ms", built.get(each));
                double error =
                        trial.errors().stream().mapToDouble(e -> e.difference()).max().orElse(0);
                row.addProperty(
                        "error and choice",
                        String.format(Locale.ROOT, "%.1e, chosen: %s", error, chosen));
                System.out.println(row);
            }
        }
    }
}
