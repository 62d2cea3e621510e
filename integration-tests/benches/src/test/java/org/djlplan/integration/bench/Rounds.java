package org.djlplan.integration.bench;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.djlplan.thirdparty.guava.math.Quantiles;

/**
 * Times alternatives in rounds that alternate. The alternatives run in this JVM, or in JVMs that
 * wait for requests meanwhile.
 */
public final class Rounds {

    /** Runs an alternative some times, and returns the milliseconds of one time. */
    @FunctionalInterface
    public interface Timed {
        double millis(int times) throws Exception;
    }

    /** One time of an alternative that runs in this JVM. */
    @FunctionalInterface
    public interface Step {
        void run() throws Exception;
    }

    private final Map<String, Timed> ways = new LinkedHashMap<>();
    private double[][] millis = new double[0][0];

    /** Adds an alternative. */
    public Rounds add(String name, Timed way) {
        ways.put(name, way);
        return this;
    }

    /** Adds an alternative that runs in this JVM. */
    public Rounds step(String name, Step step) {
        return add(
                name,
                times -> {
                    long start = System.nanoTime();
                    for (int i = 0; i < times; i++) {
                        step.run();
                    }
                    return (System.nanoTime() - start) / 1e6 / times;
                });
    }

    /**
     * Runs all alternatives, once without counting, then in rounds.
     *
     * @param roundMillis how long an alternative runs in each round
     * @param mostTimes how often an alternative runs in a round at most
     */
    public Rounds run(int rounds, double roundMillis, int mostTimes) throws Exception {
        List<Timed> all = List.copyOf(ways.values());
        int[] times = new int[all.size()];
        for (int i = 0; i < times.length; i++) {
            double unused = all.get(i).millis(2);
            double each = all.get(i).millis(3);
            times[i] = (int) Math.max(1, Math.min(mostTimes, roundMillis / each));
            unused = all.get(i).millis(times[i]);
        }
        millis = new double[all.size()][rounds];
        for (int round = 0; round < rounds; round++) {
            // Both the first alternative and the order of the others change.
            for (int i = 0; i < times.length; i++) {
                int turn = (round % 2 == 0 ? i : times.length - 1 - i) + round / 2;
                int way = turn % times.length;
                millis[way][round] = all.get(way).millis(times[way]);
            }
        }
        return this;
    }

    /** Returns the milliseconds of an alternative in each round. */
    public double[] millis(String name) {
        return millis[List.copyOf(ways.keySet()).indexOf(name)];
    }

    /** Returns the median of an alternative's milliseconds. */
    public double median(String name) {
        return Quantiles.median().compute(millis(name));
    }

    /** Returns the ratios of two alternatives in each round. */
    public double[] ratios(String name, String reference) {
        double[] ratios = millis(name).clone();
        Arrays.setAll(ratios, round -> ratios[round] / millis(reference)[round]);
        return ratios;
    }

    /** Returns the median of the rounds' ratios. */
    public double ratio(String name, String reference) {
        return Quantiles.median().compute(ratios(name, reference));
    }

    /** Prints a line for each alternative: its median, and what it takes beyond the first one. */
    public void print(String title, String unit, double perMilli) {
        System.out.printf(Locale.ROOT, "%n%-34s %12s %12s %8s%n", title, unit, "more", "/ first");
        String first = ways.keySet().iterator().next();
        for (String name : ways.keySet()) {
            System.out.printf(
                    Locale.ROOT,
                    "%-34s %12.3f %+12.3f %8.3f%n",
                    name,
                    perMilli * median(name),
                    perMilli * (median(name) - median(first)),
                    ratio(name, first));
        }
    }
}
