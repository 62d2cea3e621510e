package org.djlplan.integration.delegation;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.tflite.engine.InterpreterByHand;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.djlplan.integration.networks.HardNetworks;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.math.Quantiles;
import org.djlplan.thirdparty.guava.math.Stats;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares djl-plan with default options, the stock engine, and XNNPACK enabled by hand for all
 * operators. All use the same number of threads, in rounds that alternate within one JVM. Prints a
 * table; asserts nothing, because machines are noisy.
 */
@Tag("bench")
class DelegationBench {

    private static final int ROUNDS = 25;
    private static final double ROUND_MILLIS = 20;
    private static final int LOADS = 11;
    private static final int WARM_UP = 10_000;

    private static final int FRESH = 5;

    /** Student's quantile of 97.5 % for four degrees of freedom: five JVMs. */
    private static final double STUDENT = 2.776;

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
        compileWhatRunsOften(TestModels.built("chains"));
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

    /**
     * Compares the one line with XNNPACK by hand in several JVMs, one after another. Prints the
     * median of the JVMs' ratios for each model and number of threads; and the geometric mean over
     * all, with its 95 % interval over the JVMs (Student's).
     */
    @Test
    void printAgainstHand() throws Exception {
        StockInterpreter.loadEngine();
        List<String> rows = new ArrayList<>();
        for (Path original : models()) {
            for (int threads : new int[] {1, 2}) {
                Path file = copy(original);
                Planned.load(file, arguments(threads)).close();
                rows.add(threads + " " + file);
            }
        }
        double[][] ratios = new double[rows.size()][FRESH];
        for (int jvm = 0; jvm < FRESH; jvm++) {
            Process child = child(rows);
            List<String> lines = child.inputReader().lines().toList();
            for (int row = 0; row < rows.size(); row++) {
                ratios[row][jvm] = Double.parseDouble(lines.get(row));
            }
        }
        print("%n%-34s %7s %8s  of %d JVMs%n", "model", "threads", "/ hand", FRESH);
        for (int row = 0; row < rows.size(); row++) {
            String[] parts = rows.get(row).split(" ", 2);
            String all =
                    Arrays.stream(ratios[row])
                            .mapToObj(ratio -> String.format(Locale.ROOT, "%.3f", ratio))
                            .collect(Collectors.joining(" "));
            print(
                    "%-34s %7s %8.3f  %s%n",
                    Path.of(parts[1]).getFileName(), parts[0], median(ratios[row]), all);
        }
        double[] means = new double[FRESH];
        for (int jvm = 0; jvm < FRESH; jvm++) {
            int column = jvm;
            means[jvm] =
                    Arrays.stream(ratios)
                            .mapToDouble(row -> Math.log(row[column]))
                            .average()
                            .orElseThrow();
        }
        Stats logs = Stats.of(means);
        double reach = FRESH < 2 ? 0 : STUDENT * logs.sampleStandardDeviation() / Math.sqrt(FRESH);
        print(
                "geometric mean %.3f, 95 %% interval %.3f to %.3f; at most 1.03: %d of %d%n",
                Math.exp(logs.mean()),
                Math.exp(logs.mean() - reach),
                Math.exp(logs.mean() + reach),
                Arrays.stream(ratios).filter(row -> median(row) <= 1.03).count(),
                rows.size());
    }

    private Process child(List<String> rows) throws Exception {
        List<String> command = new ArrayList<>();
        command.addAll(
                List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Dai.djl.offline=true",
                        "-Dai.djl.tflite.disable_alternative=true",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                        "-DDJL_CACHE_DIR=" + System.getProperty("DJL_CACHE_DIR"),
                        "-DENGINE_CACHE_DIR=" + System.getProperty("ENGINE_CACHE_DIR"),
                        "-cp",
                        System.getProperty("java.class.path"),
                        DelegationBench.class.getName()));
        command.add(TestModels.built("chains").toString());
        command.addAll(rows);
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    }

    /** Arguments: a model to compile with, then each model with its threads; prints ratios. */
    public static void main(String[] arguments) throws Exception {
        StockInterpreter.loadEngine();
        compileWhatRunsOften(Path.of(arguments[0]));
        for (String row : Arrays.asList(arguments).subList(1, arguments.length)) {
            String[] parts = row.split(" ", 2);
            OUT.println(againstHand(Path.of(parts[1]), Integer.parseInt(parts[0])));
        }
    }

    private static double againstHand(Path file, int threads) throws Exception {
        try (StockInterpreter stock = new StockInterpreter(file, threads);
                ZooModel<NDList, NDList> hand = InterpreterByHand.xnnpack(file, threads);
                Predictor<NDList, NDList> handPredictor = hand.newPredictor();
                ZooModel<NDList, NDList> model = Planned.load(file, arguments(threads));
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            NDList arrays = Planned.inputs(manager, stock.randomInputs(1), stock.shapes());
            Step[] steps = {
                () -> handPredictor.predict(arrays).close(), () -> predictor.predict(arrays).close()
            };
            double[][] millis = rounds(steps);
            return medianRatio(millis[1], millis[0]);
        }
    }

    /** Ten thousand predictions, so that no interpreted Java code is measured. */
    private static void compileWhatRunsOften(Path file) throws Exception {
        try (StockInterpreter stock = new StockInterpreter(file, 1);
                ZooModel<NDList, NDList> hand = InterpreterByHand.xnnpack(file, 1);
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
                ZooModel<NDList, NDList> hand = InterpreterByHand.xnnpack(file, threads);
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

    /** Runs each step for about {@link #ROUND_MILLIS} in each round, after an untimed run. */
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

    /** Compares a load that finds earlier measurements with an interpreter with XNNPACK by hand. */
    private void compareLoads(Path original) throws Exception {
        Path file = copy(original);
        Map<String, Object> arguments = arguments(1);
        Planned.load(file, arguments).close();
        double[] hand = new double[LOADS];
        double[] stored = new double[LOADS];
        for (int i = 0; i < LOADS; i++) {
            hand[i] = millis(() -> InterpreterByHand.xnnpack(file, 1).close(), 1);
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
