package org.djlplan.integration.rewrite;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.internal.rewrite.SampleInputs;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.report.PlanReport;

/**
 * A service with many callers, whose inputs have several shapes. Prints predictions per second, and
 * the memory of the process afterwards; or, with {@code choose}, lets djl-plan choose a recipe.
 */
public final class RewrittenServiceApplication {

    private RewrittenServiceApplication() {}

    /** {@code FILE INPUTS;INPUTS… stock|planned|chosen|choose CALLERS SECONDS}. */
    public static void main(String[] args) throws Exception {
        System.setProperty("ai.djl.pytorch.num_threads", "1");
        List<SampleInputs> samples = new ArrayList<>();
        for (String each : args[1].split(";", -1)) {
            samples.add(RecipesApplication.sample(each));
        }
        int callers = Integer.parseInt(args[3]);
        try (ZooModel<NDList, NDList> model = load(Path.of(args[0]), args[2])) {
            predict(model, samples, callers, 0, 1);
            if (!args[2].equals("choose")) {
                predict(model, samples, callers, TimeUnit.SECONDS.toNanos(2), 1);
                long nanos = TimeUnit.SECONDS.toNanos(Long.parseLong(args[4]));
                long start = System.nanoTime();
                long predictions = predict(model, samples, callers, nanos, 1);
                double seconds = (System.nanoTime() - start) / 1e9;
                System.out.printf(
                        Locale.ROOT,
                        "served %.2f %d%n",
                        predictions / seconds,
                        new ProcessMemory().residentBytes().orElse(0));
            }
            System.out.println(
                    "chosen "
                            + PlanReport.of(model)
                                    .flatMap(PlanReport::delegation)
                                    .map(report -> report.delegate())
                                    .orElse("-"));
        }
    }

    private static ZooModel<NDList, NDList> load(Path file, String mode) throws Exception {
        PlannedTranslatorFactory factory =
                PlannedTranslatorFactory.wrap(new NoopTranslator(null))
                        .with("delegation.enabled", !mode.equals("planned"))
                        .with(
                                mode.equals("choose")
                                        ? "delegation.profile"
                                        : "delegation.onMissing",
                                mode.equals("choose") ? "blocking" : "cpu");
        Criteria.Builder<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optModelPath(file)
                        .optEngine("PyTorch");
        return (mode.equals("stock")
                        ? criteria.optTranslator(new NoopTranslator(null))
                        : criteria.optTranslatorFactory(factory))
                .build()
                .loadModel();
    }

    /** Predicts on several threads for a while, and returns how often. */
    private static long predict(
            ZooModel<NDList, NDList> model,
            List<SampleInputs> samples,
            int callers,
            long nanos,
            int least)
            throws Exception {
        long end = System.nanoTime() + nanos;
        ExecutorService pool = Executors.newFixedThreadPool(callers);
        try {
            List<Future<Long>> running = new ArrayList<>();
            for (int caller = 0; caller < callers; caller++) {
                int first = caller;
                running.add(
                        pool.submit(
                                () -> {
                                    long count = 0;
                                    try (Predictor<NDList, NDList> predictor =
                                            model.newPredictor()) {
                                        while (count < least || System.nanoTime() < end) {
                                            int next = (int) ((first + count++) % samples.size());
                                            try (NDManager manager =
                                                    NDManager.newBaseManager("PyTorch")) {
                                                NDList unused =
                                                        predictor.predict(
                                                                samples.get(next).create(manager));
                                            }
                                        }
                                    }
                                    return count;
                                }));
            }
            long all = 0;
            for (Future<Long> each : running) {
                all += each.get();
            }
            return all;
        } finally {
            pool.shutdownNow();
        }
    }
}
