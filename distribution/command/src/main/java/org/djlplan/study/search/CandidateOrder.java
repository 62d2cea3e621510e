package org.djlplan.study.search;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * The order in which the candidates for a place are tried: one of the orders that MiniMalloc
 * (Moffitt 2023, section 5) tries in turn, or a random variation of the best of them.
 */
final class CandidateOrder {

    /** Amount of random variation: the standard deviation of the logarithm of a length. */
    private static final double STRAY = 0.1;

    private final Sections sections;
    private final int[] rank;
    private final long[] crowd;
    private final boolean byCrowd;

    private CandidateOrder(Sections sections, Comparator<Integer> order, boolean byCrowd) {
        this.sections = sections;
        this.byCrowd = byCrowd;
        rank = new int[sections.units];
        crowd = new long[sections.units];
        int[] sorted =
                IntStream.range(0, sections.units)
                        .boxed()
                        .sorted(order.thenComparing(Comparator.<Integer>naturalOrder()))
                        .mapToInt(Integer::intValue)
                        .toArray();
        for (int i = 0; i < sorted.length; i++) {
            rank[sorted[i]] = i;
        }
    }

    /** Long-lived units first, then large ones. */
    static CandidateOrder byLength(Sections sections) {
        return new CandidateOrder(sections, length(sections).thenComparing(area(sections)), false);
    }

    /** Units of crowded sections first, among these the large ones. */
    static CandidateOrder byCrowdAndArea(Sections sections) {
        return new CandidateOrder(sections, area(sections).thenComparing(length(sections)), true);
    }

    /** Units of crowded sections first, among these the long-lived ones. */
    static CandidateOrder byCrowdAndLength(Sections sections) {
        return new CandidateOrder(sections, length(sections).thenComparing(area(sections)), true);
    }

    /** Long-lived units first, with random variation. */
    static CandidateOrder nearLength(Sections sections, Random random) {
        double[] key = new double[sections.units];
        Arrays.setAll(
                key,
                unit -> Math.log((double) sections.length[unit]) + STRAY * random.nextGaussian());
        return new CandidateOrder(
                sections, Comparator.<Integer>comparingDouble(unit -> -key[unit]), false);
    }

    private static Comparator<Integer> length(Sections sections) {
        return Comparator.comparingLong(unit -> -sections.length[unit]);
    }

    private static Comparator<Integer> area(Sections sections) {
        return Comparator.comparingDouble(
                unit -> -(double) sections.length[unit] * sections.bytes[unit]);
    }

    /** Records how crowded the sections of a part's units are. */
    void enter(PartialPlan.Part part, PartialPlan partial) {
        if (byCrowd) {
            for (int unit : part.units()) {
                long most = 0;
                for (int s = sections.first[unit]; s <= sections.last[unit]; s++) {
                    most = Math.max(most, partial.open[s]);
                }
                crowd[unit] = most;
            }
        }
    }

    /** Returns whether a candidate is tried before another. */
    boolean before(int unit, int other) {
        return crowd[unit] != crowd[other] ? crowd[unit] > crowd[other] : rank[unit] < rank[other];
    }
}
