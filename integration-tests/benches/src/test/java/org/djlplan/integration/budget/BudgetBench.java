package org.djlplan.integration.budget;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.djlplan.integration.bench.Scatter;
import org.djlplan.integration.bench.Scatter.Axis;
import org.djlplan.integration.bench.Scatter.Point;
import org.djlplan.integration.support.BudgetModels;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.support.RealModels;
import org.djlplan.memplan.testing.MemoryGroup;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares models inside budgets with the stock engine: memory above the idle runtime, seen from
 * outside, and latency. Prints tables; asserts nothing, because machines are noisy.
 */
@Tag("bench")
@OnEveryDjl
class BudgetBench {

    private static final int ROUNDS = Integer.getInteger("djlplan.bench.rounds", 21);
    private static final int BUDGETS = 100;
    private static final double MILLION = 1e6;

    private static final Scatter CURVE =
            new Scatter(
                    new Axis(
                            "peak memory, MB",
                            true,
                            List.of(16., 32., 64., 128., 256., 512., 1024.)),
                    new Axis("latency / stock", true, List.of(0.25, 0.5, 1., 2., 4.)));

    private static final Logger logger = LoggerFactory.getLogger(BudgetBench.class);

    private static final PrintStream OUT =
            new PrintStream(System.out, true, StandardCharsets.UTF_8);

    /** A folder on the models' disk. */
    @TempDir(factory = OnDisk.class)
    Path folder;

    /** Prints the figures of the engine alone, with which budgets are compared. */
    @Test
    void printStock() throws Exception {
        for (BudgetModels model : List.of(BudgetModels.RESNET152, BudgetModels.VGG19)) {
            for (int threads : new int[] {1, 2}) {
                List<Match.Figures> unused =
                        print(
                                model.file(),
                                List.of(Contestant.stock(threads), Contestant.xnnpack(threads)));
            }
        }
    }

    /** Weights in the page cache; resident memory. */
    @Test
    void printWarm() throws Exception {
        printWarm(BudgetModels.RESNET152.file(), 1, 30, 36, 60);
        printWarm(BudgetModels.RESNET152.file(), 2, 31, 36, 60);
        printWarm(BudgetModels.VGG19.file(), 1, 50, 64, 96);
        printWarm(BudgetModels.VGG19.file(), 2, 52, 64, 96);
        printRealWarm("hand_landmark_full", 20);
        printRealWarm("FaceAntiSpoofing", 42);
    }

    private void printRealWarm(String name, int megabytes) throws Exception {
        Path file = RealModels.TFLITE.file(name);
        if (Files.isRegularFile(file)) {
            printWarm(file, 1, megabytes);
        }
    }

    /** PyTorch: weights in the page cache; resident memory. */
    @Test
    void printTorch() throws Exception {
        for (int threads : new int[] {1, 2}) {
            printTorch("resnet152", threads, 90, 128);
            printTorch("vgg19", threads, 120, 160);
            printTorch("bert_base", threads, 100, 160);
        }
    }

    /**
     * If a contestant fails, for example because its budget is too small, the others' figures
     * remain.
     */
    private void printTorch(String name, int threads, int... budgets) throws Exception {
        Path file = RealModels.LARGE_TORCHSCRIPT.file(name);
        if (!Files.isRegularFile(file)) {
            OUT.printf("%n%s is not there%n", file);
            return;
        }
        try {
            printWarm(file, threads, budgets);
        } catch (IOException e) {
            OUT.printf("%n%s, %d threads: %s%n", file.getFileName(), threads, e.getMessage());
        }
    }

    private void printWarm(Path model, int threads, int... budgets) throws Exception {
        List<Contestant> contestants = new ArrayList<>(List.of(Contestant.stock(threads)));
        for (int megabytes : budgets) {
            contestants.add(budget(megabytes, "auto", threads));
        }
        List<Match.Figures> unused = print(model, contestants);
    }

    /** Prints latency over memory, also for everything that a user could do without a budget. */
    @Test
    void printCurve() throws Exception {
        Map<String, List<Point>> panels = new LinkedHashMap<>();
        for (int threads : new int[] {1, 2}) {
            curve(panels, BudgetModels.RESNET152, threads, 33, 60, 100, 160, 230, 300);
            curve(panels, BudgetModels.VGG19, threads, 54, 90, 150, 300, 500, 680);
        }
    }

    private void curve(
            Map<String, List<Point>> panels, BudgetModels model, int threads, int... budgets)
            throws Exception {
        List<Contestant> contestants = new ArrayList<>();
        contestants.add(Contestant.stock(threads));
        contestants.add(Contestant.xnnpack(threads));
        contestants.add(Contestant.delegation("1GB", threads));
        contestants.add(Contestant.delegation("200MB", threads));
        int others = contestants.size();
        for (int megabytes : budgets) {
            contestants.add(Contestant.budgetWithDelegation(megabytes * 1_000_000L, threads));
        }
        List<Match.Figures> figures = print(model.file(), contestants);
        List<Point> points = new ArrayList<>();
        for (int i = 0; i < figures.size(); i++) {
            Match.Figures each = figures.get(i);
            points.add(
                    new Point(
                            each.mostBytes() / MILLION,
                            each.ratio().value(),
                            i < others ? "#1f77b4" : "#d62728",
                            i < others ? each.name() : ""));
        }
        panels.put(model.file().getFileName() + ", " + threads + " threads", points);
        Path picture = Path.of("target", "budget.svg").toAbsolutePath();
        Files.writeString(picture, CURVE.svg(panels));
        OUT.printf("%s%n", picture);
    }

    /**
     * Sets a hundred budgets, one after the other. Prints how long each change takes, and whether
     * the model keeps the budget.
     */
    @Test
    void printSetBudget() throws Exception {
        printSetBudget(BudgetModels.RESNET152.file(), 32, 250);
        printSetBudget(BudgetModels.VGG19.file(), 60, 500);
    }

    private void printSetBudget(Path original, int least, int most) throws Exception {
        Path model = Files.createTempDirectory(folder, "model").resolve(original.getFileName());
        Files.createLink(model, original);
        Random random = new Random(1);
        try (ContestantProcess stock = start(Contestant.stock(1), model);
                ContestantProcess ours = start(budget(most, "auto", 1), model)) {
            logger.debug("loaded in {} and {} ns", stock.loadNanos(model), ours.loadNanos(model));
            byte[] expected = stock.outputs(1);
            double[] millis = new double[BUDGETS];
            double[] held = new double[BUDGETS];
            int same = 0;
            for (int i = 0; i < BUDGETS; i++) {
                long bytes = (long) (MILLION * (least + random.nextDouble() * (most - least)));
                ours.resetPeak();
                millis[i] = ours.budgetNanos(bytes) / MILLION;
                // The memory of the former budget is released by then.
                same += Arrays.equals(expected, ours.outputs(1)) ? 1 : 0;
                ours.resetPeak();
                same += Arrays.equals(expected, ours.outputs(1)) ? 1 : 0;
                held[i] = (double) ours.peakAboveIdleBytes() / bytes;
            }
            OUT.printf(
                    Locale.ROOT,
                    "%n%s: %d budgets of %d to %d MB: each took %s ms, at most %.0f; peak / budget"
                            + " %s, at most %.3f; %d of %d outputs the same%n",
                    model.getFileName(),
                    BUDGETS,
                    least,
                    most,
                    Median.of(millis),
                    Arrays.stream(millis).max().orElseThrow(),
                    Median.of(held),
                    Arrays.stream(held).max().orElseThrow(),
                    same,
                    2 * BUDGETS);
        }
    }

    private ContestantProcess start(Contestant contestant, Path model) throws Exception {
        return ContestantProcess.start(contestant, model, folder, Optional.empty());
    }

    private List<Match.Figures> print(Path model, List<Contestant> contestants) throws Exception {
        OUT.printf(
                Locale.ROOT,
                "%n%s, %d threads, %d rounds%n%s%n",
                model.getFileName(),
                contestants.get(0).threads(),
                ROUNDS,
                Match.Figures.HEAD);
        List<Match.Figures> figures = new Match(model, folder, ROUNDS).run(contestants);
        figures.forEach(each -> OUT.println(each.line(figures.get(0))));
        return figures;
    }

    /**
     * Runs inside a memory cgroup, which is also charged for the page cache; nothing is cached at
     * the start. The stock engine takes turns with it, outside of any cgroup.
     */
    @Test
    void printCharged() throws Exception {
        Path resnet = BudgetModels.RESNET152.file();
        Path vgg = BudgetModels.VGG19.file();
        OUT.println(
                "MB above what the idle runtime is charged for; latency / stock without a limit");
        try (ContestantProcess stock = loaded(Contestant.stock(1), resnet)) {
            // A tenth of stock's memory.
            printCharged(stock, resnet, budget(27, "direct", 1), 27);
            printCharged(stock, resnet, Contestant.stock(1), 60);
            printCharged(stock, resnet, budget(60, "direct", 1), 60);
            printCharged(stock, resnet, budget(60, "mmap", 1), 60);
        }
        try (ContestantProcess stock = loaded(Contestant.stock(2), resnet)) {
            printCharged(stock, resnet, budget(51, "direct", 2), 51);
            printCharged(stock, resnet, Contestant.stock(2), 100);
            printCharged(stock, resnet, Contestant.xnnpack(2), 100);
            printCharged(stock, resnet, budget(100, "direct", 2), 100);
            printCharged(stock, resnet, budget(100, "mmap", 2), 100);
        }
        try (ContestantProcess stock = loaded(Contestant.stock(1), vgg)) {
            printCharged(stock, vgg, Contestant.stock(1), 130);
            printCharged(stock, vgg, budget(130, "direct", 1), 130);
        }
    }

    private ContestantProcess loaded(Contestant contestant, Path model) throws Exception {
        ContestantProcess process = start(contestant, model);
        logger.debug("loaded in {} ns", process.loadNanos(model));
        return process;
    }

    private static Contestant budget(int megabytes, String io, int threads) {
        return Contestant.budget(megabytes * 1_000_000L, io, threads);
    }

    private void printCharged(ContestantProcess stock, Path model, Contestant contestant, int limit)
            throws Exception {
        Path own = Files.createTempDirectory(folder, "model").resolve(model.getFileName());
        Files.copy(model, own);
        if (contestant.way() == Contestant.Way.PLANNED) {
            // Slicing and other preparations are done once, in another process.
            try (ContestantProcess first = start(contestant, model)) {
                long loadNanos = first.loadNanos(own);
                long[] nanos = first.predictNanos(2);
                logger.debug("prepared in {} ns, first predictions {} ns", loadNanos, nanos);
            }
        }
        String figures;
        try (MemoryGroup group = MemoryGroup.of(Long.MAX_VALUE >> 1)) {
            figures = charged(stock, own, contestant, limit, group);
        }
        OUT.printf(
                Locale.ROOT,
                "%-18s %d threads, limit %4d  %-24s %s%n",
                model.getFileName(),
                contestant.threads(),
                limit,
                contestant.name(),
                figures);
        for (Path file : PageCache.filesIn(own.getParent())) {
            Files.delete(file);
        }
    }

    private String charged(
            ContestantProcess stock,
            Path model,
            Contestant contestant,
            int limit,
            MemoryGroup group)
            throws Exception {
        try (ContestantProcess process =
                ContestantProcess.start(contestant, model, folder, Optional.of(group))) {
            PageCache.drop(model.getParent());
            long idleBytes = group.usedBytes();
            group.limit(idleBytes + limit * 1_000_000L);
            group.resetPeak();
            String doing = "loading";
            try {
                double loadMillis = process.loadNanos(model) / MILLION;
                doing = "predicting";
                double firstMillis = process.predictNanos(1)[0] / MILLION;
                double[] millis = new double[ROUNDS];
                double[] ratios = new double[ROUNDS];
                for (int i = 0; i < ROUNDS; i++) {
                    double stockMillis = stock.predictNanos(1)[0] / MILLION;
                    millis[i] = process.predictNanos(1)[0] / MILLION;
                    ratios[i] = millis[i] / stockMillis;
                }
                return String.format(
                        Locale.ROOT,
                        "peak %6.1f MB, load %6.0f ms, first %6.0f ms, then %s ms, %s",
                        (group.peakBytes() - idleBytes) / MILLION,
                        loadMillis,
                        firstMillis,
                        Median.of(millis),
                        Median.of(ratios));
            } catch (ContestantProcess.KilledException e) {
                return "killed while " + doing;
            } catch (IOException e) {
                return e.getMessage();
            }
        }
    }
}
