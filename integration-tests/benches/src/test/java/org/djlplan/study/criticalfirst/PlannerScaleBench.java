package org.djlplan.study.criticalfirst;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.PlanValidator;
import org.djlplan.memplan.internal.plan.portfolio.Attempt;
import org.djlplan.memplan.internal.plan.portfolio.Portfolio;
import org.djlplan.memplan.internal.usage.LowerBounds;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.testing.SyntheticProfiles;
import org.djlplan.study.Strategies;
import org.djlplan.thirdparty.guava.base.Stopwatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Measures how the cost of planning grows from a thousand to a million units. Prints tables;
 * asserts nothing, because machines are noisy.
 */
@Tag("bench")
class PlannerScaleBench {

    private static final long SEED = 1;
    private static final int REPEATS = 5;
    private static final List<Integer> COUNTS = List.of(1_000, 10_000, 100_000, 1_000_000);

    private final OffsetStrategy strategy = new CriticalFirst();

    @Test
    void print() {
        plan(SyntheticProfiles.training(10_000, SEED + 1));
        plan(SyntheticProfiles.serving(10_000, SEED + 1));
        print("training", count -> SyntheticProfiles.training(count, SEED));
        print("serving", count -> SyntheticProfiles.serving(count, SEED));
    }

    private void print(String shape, IntFunction<PlanningProblem> problems) {
        print(
                "%n%-9s %9s %9s %10s %10s %10s %10s %10s %10s%n",
                shape,
                "units",
                "above",
                "problem",
                "bound",
                "one pass",
                "plan",
                "validate",
                "best of all");
        double[] passMillis = new double[COUNTS.size()];
        double[] planMillis = new double[COUNTS.size()];
        for (int i = 0; i < planMillis.length; i++) {
            List<UsageRecord> records = problems.apply(COUNTS.get(i)).records();
            passMillis[i] = leastMillis(() -> pass(records));
            planMillis[i] = line(records, passMillis[i]);
        }
        print(
                "exponent of one pass %.2f, of the plan %.2f%n",
                exponent(passMillis), exponent(planMillis));
    }

    /** Prints one line of times in ms, and returns the time of planning. */
    private double line(List<UsageRecord> records, double passMillis) {
        Stopwatch problemTime = Stopwatch.createStarted();
        PlanningProblem problem = new PlanningProblem(records);
        problemTime.stop();
        Stopwatch boundTime = Stopwatch.createStarted();
        long boundBytes = LowerBounds.offsetBytes(problem.units());
        boundTime.stop();
        double planMillis = leastMillis(() -> plan(problem));
        OffsetPlan plan = strategy.plan(problem);
        Stopwatch validTime = Stopwatch.createStarted();
        String valid = PlanValidator.violations(plan, 64).isEmpty() ? "" : " invalid";
        validTime.stop();
        Stopwatch allTime = Stopwatch.createStarted();
        Attempt best = new Portfolio(Strategies.offsets(), 64).best(List.of(problem));
        allTime.stop();
        print(
                "%-9s %9d %8.3f%% %10.1f %10.1f %10.1f %10.1f %10.1f %10.1f %s%s%n",
                "",
                records.size(),
                100.0 * (plan.totalBytes() - boundBytes) / boundBytes,
                millis(problemTime),
                millis(boundTime),
                passMillis,
                planMillis,
                millis(validTime),
                millis(allTime),
                best.name(),
                valid);
        return planMillis;
    }

    private static double leastMillis(Supplier<Stopwatch> timed) {
        return IntStream.range(0, REPEATS)
                .mapToDouble(i -> millis(timed.get()))
                .min()
                .orElseThrow();
    }

    private static Stopwatch pass(List<UsageRecord> records) {
        Stopwatch watch = Stopwatch.createStarted();
        MomentTable timeline = new MomentTable(records);
        Filling.of(timeline, new Filling.Priorities(timeline, 2, 1, 0.2));
        return watch.stop();
    }

    private Stopwatch plan(PlanningProblem problem) {
        Stopwatch watch = Stopwatch.createStarted();
        strategy.plan(problem);
        return watch.stop();
    }

    /** Returns the slope of the straight line through the logarithms, by least squares. */
    private static double exponent(double[] millis) {
        double[] x = COUNTS.stream().mapToDouble(Math::log).toArray();
        double[] y = Arrays.stream(millis).map(Math::log).toArray();
        double meanX = IntStream.range(0, x.length).mapToDouble(i -> x[i]).average().orElseThrow();
        double meanY = IntStream.range(0, x.length).mapToDouble(i -> y[i]).average().orElseThrow();
        double products = 0;
        double squares = 0;
        for (int i = 0; i < x.length; i++) {
            products += (x[i] - meanX) * (y[i] - meanY);
            squares += (x[i] - meanX) * (x[i] - meanX);
        }
        return products / squares;
    }

    private static double millis(Stopwatch watch) {
        return watch.elapsed(TimeUnit.MICROSECONDS) / 1e3;
    }

    private static void print(String format, Object... arguments) {
        System.out.printf(Locale.ROOT, format, arguments);
    }
}
