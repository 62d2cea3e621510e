package org.djlplan.integration.delegation;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.tflite.engine.XnnPackByHand;
import com.google.common.collect.ImmutableList;
import com.google.common.math.Quantiles;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.djlplan.integration.Planned;
import org.djlplan.integration.RealModels;
import org.djlplan.integration.StockInterpreter;
import org.djlplan.integration.TestModels;
import org.djlplan.integration.networks.HardNetworks;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The one line against the stock engine and against XNNPACK switched on by hand for everything, all
 * with the same number of threads, in rounds that alternate within one JVM. Prints a table; asserts
 * nothing, because machines are noisy.
 */
@Tag("bench")
class DelegationBench {

    private static final int ROUNDS = 25;
    private static final double ROUND_MILLIS = 20;
    private static final int LOADS = 11;
    private static final int WARM_UP = 10_000;

    private static final ImmutableList<String> REAL =
            ImmutableList.of(
                    "MobileFaceNet",
                    "FaceAntiSpoofing",
                    "hand_landmark_full",
                    "face_landmark",
                    "palm_detection_full",
                    "face_detection_short_range",
                    "pnet",
                    "onet",
                    "rnet");

    private static final ImmutableList<String> BUILT =
            ImmutableList.of("mobilenet_v1", "mobilenet_v2", "inception", "uneven");

    private static final PrintStream OUT =
            new PrintStream(System.out, true, StandardCharsets.UTF_8);

    @TempDir Path folder;

    private interface Step {
        void run() throws Exception;
    }

    @Test
    void print() throws Exception {
        StockInterpreter.loadEngine();
        compileWhatRunsOften();
        print(
                "%-34s %7s %9s %9s %9s %8s %8s  %s%n",
                "model",
                "threads",
                "stock ms",
                "hand ms",
                "ours ms",
                "/ stock",
                "/ hand",
                "delegated: reason");
        List<Double> againstHand = new ArrayList<>();
        for (Path file : models()) {
            for (int threads : new int[] {1, 2}) {
                againstHand.add(compare(file, threads));
            }
        }
        double logs = againstHand.stream().mapToDouble(Math::log).average().orElseThrow();
        print(
                "%s of %s at most 1.02 of XNNPACK by hand; geometric mean %.3f%n",
                againstHand.stream().filter(ratio -> ratio <= 1.02).count(),
                againstHand.size(),
                Math.exp(logs));
        print("%n%-34s %10s %10s %10s%n", "load, ms", "hand", "stored", "extra");
        for (Path file : models()) {
            compareLoads(file);
        }
    }

    /** Ten thousand predictions, so that no interpreted Java code is measured. */
    private static void compileWhatRunsOften() throws Exception {
        Path file = TestModels.built("chains");
        try (StockInterpreter stock = new StockInterpreter(file, 1);
                ZooModel<NDList, NDList> hand = XnnPackByHand.load(file, 1);
                Predictor<NDList, NDList> handPredictor = hand.newPredictor();
                ZooModel<NDList, NDList> model =
                        Planned.load(file, Map.of("delegation.profile", "off"));
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            List<ByteBuffer> inputs = stock.randomInputs(1);
            NDList arrays = Planned.inputs(manager, inputs, stock.shapes());
            for (int i = 0; i < WARM_UP; i++) {
                List<ByteBuffer> unused = stock.run(inputs);
                handPredictor.predict(arrays).close();
                predictor.predict(arrays).close();
            }
        }
    }

    private static List<Path> models() {
        List<Path> models = new ArrayList<>();
        REAL.stream()
                .map(RealModels.TFLITE::file)
                .filter(Files::isRegularFile)
                .forEach(models::add);
        BUILT.forEach(name -> models.add(TestModels.built(name)));
        HardNetworks.large().forEach(name -> models.add(TestModels.built(name)));
        return models;
    }

    private double compare(Path original, int threads) throws Exception {
        Path file = copy(original);
        Map<String, Object> arguments = arguments(threads);
        Planned.load(file, arguments).close();
        try (StockInterpreter stock = new StockInterpreter(file, threads);
                ZooModel<NDList, NDList> hand = XnnPackByHand.load(file, threads);
                Predictor<NDList, NDList> handPredictor = hand.newPredictor();
                ZooModel<NDList, NDList> model = Planned.load(file, arguments);
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            List<ByteBuffer> inputs = stock.randomInputs(1);
            NDList arrays = Planned.inputs(manager, inputs, stock.shapes());
            Step[] steps = {
                () -> stock.run(inputs),
                () -> handPredictor.predict(arrays).close(),
                () -> predictor.predict(arrays).close()
            };
            double[][] millis = rounds(steps);
            DelegationReport report = PlanReport.of(model).orElseThrow().delegation().orElseThrow();
            double ratio = medianRatio(millis[2], millis[1]);
            print(
                    "%-34s %7d %9.3f %9.3f %9.3f %8.3f %8.3f  %d of %d: %s%n",
                    original.getFileName(),
                    threads,
                    median(millis[0]),
                    median(millis[1]),
                    median(millis[2]),
                    medianRatio(millis[2], millis[0]),
                    ratio,
                    report.delegatedOperators(),
                    report.operators(),
                    report.reason());
            return ratio;
        }
    }

    private static Map<String, Object> arguments(int threads) {
        return Map.of("delegation.profile", "blocking", "memplan.threads", threads);
    }

    private Path copy(Path original) throws Exception {
        Path own = Files.createTempDirectory(folder, "model").resolve(original.getFileName());
        return Files.copy(original, own);
    }

    /**
     * Runs each step as often as takes about {@link #ROUND_MILLIS}, after one that is not timed.
     */
    private static double[][] rounds(Step[] steps) throws Exception {
        int[] times = new int[steps.length];
        for (int i = 0; i < steps.length; i++) {
            millis(steps[i], 2);
            times[i] = (int) Math.max(1, ROUND_MILLIS / millis(steps[i], 3));
        }
        double[][] millis = new double[steps.length][ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < steps.length; i++) {
                int step = (i + round) % steps.length;
                steps[step].run();
                millis[step][round] = millis(steps[step], times[step]);
            }
        }
        return millis;
    }

    /** A load that finds what was measured before, and an interpreter with XNNPACK by hand. */
    private void compareLoads(Path original) throws Exception {
        Path file = copy(original);
        Map<String, Object> arguments = arguments(1);
        Planned.load(file, arguments).close();
        double[] hand = new double[LOADS];
        double[] stored = new double[LOADS];
        for (int i = 0; i < LOADS; i++) {
            hand[i] = millis(() -> XnnPackByHand.load(file, 1).close(), 1);
            stored[i] = millis(() -> Planned.load(file, arguments).close(), 1);
        }
        double[] extra = new double[LOADS];
        for (int i = 0; i < LOADS; i++) {
            extra[i] = stored[i] - hand[i];
        }
        print(
                "%-34s %10.2f %10.2f %10.2f%n",
                original.getFileName(), median(hand), median(stored), median(extra));
    }

    private static double millis(Step step, int times) throws Exception {
        long start = System.nanoTime();
        for (int i = 0; i < times; i++) {
            step.run();
        }
        return (System.nanoTime() - start) / 1e6 / times;
    }

    private static double medianRatio(double[] numerators, double[] denominators) {
        double[] ratios = new double[numerators.length];
        for (int i = 0; i < ratios.length; i++) {
            ratios[i] = numerators[i] / denominators[i];
        }
        return median(ratios);
    }

    private static double median(double[] values) {
        return Quantiles.median().compute(values);
    }

    private static void print(String format, Object... arguments) {
        OUT.print(String.format(Locale.ROOT, format, arguments));
    }
}
