package org.djlplan.memplan.cli;

import com.google.common.base.Stopwatch;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.Sets;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.plan.search.ExactSearch;
import org.djlplan.memplan.plan.search.SearchLimits;
import org.djlplan.memplan.plan.search.SearchResult;
import org.djlplan.memplan.plan.search.Technique;

/** Searches for a plan that fits, with all techniques and without each, to see what it brings. */
final class TechniqueBench {

    /** Stands for the search with all techniques. */
    static final String NONE = "none";

    /**
     * One search.
     *
     * @param instance name of the problem
     * @param without the technique that was off, or {@link #NONE}
     * @param seconds how long it took
     * @param nodes how many partial plans it looked at
     * @param totalBytes size of the arena it found
     * @param fits whether that is within the capacity
     */
    record Row(
            String instance,
            String without,
            double seconds,
            long nodes,
            long totalBytes,
            boolean fits) {}

    private final SearchLimits limits;
    private final long capacityBytes;

    /**
     * @param limits of each search
     * @param capacityBytes what the plan has to fit into
     */
    TechniqueBench(SearchLimits limits, long capacityBytes) {
        this.limits = limits.withCapacityBytes(capacityBytes);
        this.capacityBytes = capacityBytes;
    }

    /** Returns one row with all techniques, then one without each, after a warm-up. */
    ImmutableList<Row> rows(PlannerBench.Instance instance) {
        new ExactSearch(limits).search(instance.problem());
        ImmutableList.Builder<Row> rows = ImmutableList.builder();
        rows.add(row(instance, NONE, Technique.ALL));
        for (Technique off : Technique.values()) {
            String name = off.name().toLowerCase(Locale.ROOT).replace('_', '-');
            rows.add(row(instance, name, Sets.difference(Technique.ALL, Set.of(off))));
        }
        return rows.build();
    }

    private Row row(PlannerBench.Instance instance, String without, Set<Technique> techniques) {
        Stopwatch watch = Stopwatch.createStarted();
        SearchResult result = new ExactSearch(limits, techniques).search(instance.problem());
        double seconds = watch.elapsed(TimeUnit.NANOSECONDS) / 1e9;
        long bytes = result.plan().totalBytes();
        return new Row(
                instance.name(), without, seconds, result.nodes(), bytes, bytes <= capacityBytes);
    }
}
