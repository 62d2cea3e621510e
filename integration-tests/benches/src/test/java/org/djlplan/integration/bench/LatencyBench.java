package org.djlplan.integration.bench;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.internal.runtime.tflite.EngineView;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Compares latency and load time of planned models with the stock engine, in rounds that alternate
 * within one JVM. Prints a table; asserts nothing, because machines are noisy.
 */
@Tag("bench")
class LatencyBench {

    private static final int ROUNDS = 21;
    private static final double ROUND_MILLIS = 40;
    private static final int WARM_UP = 10_000;
    private static final int LOADS = 21;
    private static final double MEGA = 1e6;

    private interface Step {
        void run() throws Exception;
    }

    @Test
    void print() throws Exception {
        StockInterpreter.loadEngine();
        compileWhatRunsOften();
        print(
                "%-34s %7s %10s %10s %6s %8s %8s %6s%n",
                "model",
                "threads",
                "stock ms",
                "planned ms",
                "ratio",
                "stock MB",
                "own MB",
                "ratio");
        double logs = 0;
        int count = 0;
        for (Path file : TestModels.present()) {
            for (int threads : new int[] {1, 2}) {
                logs += Math.log(compare(file, threads));
                count++;
            }
        }
        print("geometric mean of %s ratios: %.4f%n", count, Math.exp(logs / count));
        print("%n%-34s %10s %10s %10s%n", "model", "stock ms", "planned ms", "extra ms");
        for (Path file : TestModels.present()) {
            compareLoads(file);
        }
    }

    /**
     * Compiles code in advance: otherwise models that take 100 ms would be measured with
     * interpreted Java code.
     */
    private static void compileWhatRunsOften() throws Exception {
        Path file = TestModels.built("chains");
        try (StockInterpreter stock = new StockInterpreter(file, 1);
                ZooModel<NDList, NDList> model = Planned.load(file, Map.of("memplan.threads", 1));
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            List<ByteBuffer> inputs = stock.randomInputs(1);
            NDList arrays = Planned.inputs(manager, inputs, stock.shapes());
            for (int i = 0; i < WARM_UP; i++) {
                List<ByteBuffer> unused = stock.run(inputs);
                predictor.predict(arrays).close();
            }
        }
    }

    /**
     * Compares a bare interpreter with a planned model in DJL, both with the same number of
     * threads.
     */
    private static double compare(Path file, int threads) throws Exception {
        try (StockInterpreter stock = new StockInterpreter(file, threads);
                ZooModel<NDList, NDList> model =
                        Planned.load(file, Map.of("memplan.threads", threads));
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            List<ByteBuffer> inputs = stock.randomInputs(1);
            NDList arrays = Planned.inputs(manager, inputs, stock.shapes());
            Step stockStep = () -> stock.run(inputs);
            Step plannedStep = () -> predictor.predict(arrays).close();
            millis(stockStep, 3);
            int times = (int) Math.max(1, ROUND_MILLIS / millis(plannedStep, 3));
            millis(stockStep, times);
            millis(plannedStep, times);
            double[] stockMillis = new double[ROUNDS];
            double[] plannedMillis = new double[ROUNDS];
            double[] ratios = new double[ROUNDS];
            for (int i = 0; i < ROUNDS; i++) {
                boolean stockFirst = i % 2 == 0;
                if (stockFirst) {
                    stockMillis[i] = millis(stockStep, times);
                }
                plannedMillis[i] = millis(plannedStep, times);
                if (!stockFirst) {
                    stockMillis[i] = millis(stockStep, times);
                }
                ratios[i] = plannedMillis[i] / stockMillis[i];
            }
            PlanReport report = PlanReport.of(model).orElseThrow();
            double stockBytes = EngineView.of(file, threads).arenaBytes();
            double ownBytes = report.plan().arenaBytes() + report.plan().inputOutputBytes();
            print(
                    "%-34s %7d %10.3f %10.3f %6.3f %8.2f %8.2f %6.3f%n",
                    file.getFileName(),
                    threads,
                    median(stockMillis),
                    median(plannedMillis),
                    median(ratios),
                    stockBytes / MEGA,
                    ownBytes / MEGA,
                    ownBytes / stockBytes);
            return median(ratios);
        }
    }

    /** Compares DJL alone with the one line, both with the engine's default number of threads. */
    private static void compareLoads(Path file) throws Exception {
        List<Double> stock = new ArrayList<>();
        List<Double> planned = new ArrayList<>();
        for (int i = 0; i < LOADS; i++) {
            stock.add(millis(() -> Planned.loadStock(file).close(), 1));
            planned.add(millis(() -> Planned.load(file, Map.of()).close(), 1));
        }
        double stockMillis = median(stock.stream().mapToDouble(Double::doubleValue).toArray());
        double plannedMillis = median(planned.stream().mapToDouble(Double::doubleValue).toArray());
        print(
                "%-34s %10.2f %10.2f %10.2f%n",
                file.getFileName(), stockMillis, plannedMillis, plannedMillis - stockMillis);
    }

    private static double millis(Step step, int times) throws Exception {
        long start = System.nanoTime();
        for (int i = 0; i < times; i++) {
            step.run();
        }
        return (System.nanoTime() - start) / MEGA / times;
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    private static void print(String format, Object... arguments) {
        System.out.printf(Locale.ROOT, format, arguments);
    }
}
