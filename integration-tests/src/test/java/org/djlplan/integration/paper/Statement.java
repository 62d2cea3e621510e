package org.djlplan.integration.paper;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.djlplan.integration.paper.Contender.Kind;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A statement of Pisarchyk and Lee 2020 about their networks, and the corresponding result here.
 *
 * @param text the statement
 * @param holds whether it holds here
 * @param figures the result here
 */
record Statement(String text, boolean holds, String figures) {

    private static final String BY_SIZE = "greedy-by-size";
    private static final String BEST_FIT = "best-fit";
    private static final String IMPROVED = "shared-greedy-by-size-improved";

    /** The paper's own strategies. */
    private static final ImmutableList<String> OFFSETS =
            ImmutableList.of(BY_SIZE, "greedy-by-breadth");

    private static final ImmutableList<String> SHARED_OBJECTS =
            ImmutableList.of(IMPROVED, "shared-greedy-by-size", "shared-greedy-by-breadth");

    private static final Set<PaperNetwork> SHARED_AT_BOUND =
            Set.of(PaperNetwork.MOBILENET_V1, PaperNetwork.POSENET, PaperNetwork.BLAZEFACE);

    /** Returns the statements about strategies that have results. */
    static ImmutableList<Statement> of(Results results) {
        ImmutableList.Builder<Statement> statements = ImmutableList.builder();
        Predicate<PaperNetwork> deepLab = network -> network == PaperNetwork.DEEPLAB_V3;
        if (results.strategies(Kind.OFFSETS).contains(BY_SIZE)) {
            Above above = new Above(results, Kind.OFFSETS, BY_SIZE);
            statements.add(
                    above.statement(
                            "at the lower bound on all but DeepLab v3", deepLab.negate(), 0),
                    above.statement("within 8 % of it on DeepLab v3", deepLab, 8),
                    belowNaive(results, OFFSETS, "offsets", 10.5));
        }
        if (results.strategies(Kind.OFFSETS).contains(BEST_FIT)) {
            statements.add(bestFit(results));
        }
        if (results.strategies(Kind.SHARED_OBJECTS).contains(IMPROVED)) {
            Above above = new Above(results, Kind.SHARED_OBJECTS, IMPROVED);
            statements.add(
                    above.statement(
                            "at the lower bound on MobileNet v1, PoseNet and BlazeFace",
                            SHARED_AT_BOUND::contains,
                            0),
                    above.statement(
                            "within 16 % of it on the others",
                            network -> !SHARED_AT_BOUND.contains(network), 16),
                    belowNaive(results, SHARED_OBJECTS, "shared objects", 7.5));
        }
        return statements.build();
    }

    /**
     * Checks that the largest factor, rounded to one decimal place as in the paper, is at least
     * this.
     */
    private static Statement belowNaive(
            Results results, List<String> strategies, String kind, double factor) {
        double largest = 1;
        for (PaperNetwork network : PaperNetwork.values()) {
            for (String strategy : strategies) {
                double bytes = results.bytes(strategy, network).orElse(Long.MAX_VALUE);
                largest = Math.max(largest, Results.naiveBytes(network) / bytes);
            }
        }
        return new Statement(
                String.format(
                        Locale.ROOT,
                        "the paper's own strategies for %s: up to %.1f× below naive",
                        kind,
                        factor),
                Math.round(10 * largest) >= Math.round(10 * factor),
                String.format(Locale.ROOT, "%.2f×", largest));
    }

    private static Statement bestFit(Results results) {
        long bestFit = results.bytes(BEST_FIT, PaperNetwork.DEEPLAB_V3).orElseThrow();
        long bySize = results.bytes(BY_SIZE, PaperNetwork.DEEPLAB_V3).orElseThrow();
        return new Statement(
                "best-fit: smaller than greedy-by-size on DeepLab v3 (there by 7.2 %)",
                bestFit < bySize,
                String.format(Locale.ROOT, "by %.1f %%", 100.0 * (bySize - bestFit) / bySize));
    }

    /** Statements about the percentage by which a strategy's plans exceed the lower bound. */
    private record Above(Results results, Kind kind, String strategy) {

        private Statement statement(String text, Predicate<PaperNetwork> where, double percent) {
            return new Statement(
                    strategy + ": " + text,
                    Arrays.stream(PaperNetwork.values())
                            .filter(where)
                            .allMatch(network -> percentAbove(network) <= percent),
                    Arrays.stream(PaperNetwork.values())
                            .filter(where)
                            .map(this::text)
                            .collect(Collectors.joining(", ")));
        }

        private String text(PaperNetwork network) {
            return String.format(
                    Locale.ROOT, "%s +%.2f %%", network.label(), percentAbove(network));
        }

        private double percentAbove(PaperNetwork network) {
            double bound = results.boundBytes(kind, network).orElseThrow();
            return 100 * (results.bytes(strategy, network).orElseThrow() - bound) / bound;
        }
    }
}
