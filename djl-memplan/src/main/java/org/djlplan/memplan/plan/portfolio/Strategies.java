package org.djlplan.memplan.plan.portfolio;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import java.util.Comparator;
import org.djlplan.memplan.plan.OffsetStrategy;
import org.djlplan.memplan.plan.greedy.GreedyByBreadth;
import org.djlplan.memplan.plan.greedy.GreedyBySize;
import org.djlplan.memplan.plan.greedy.Naive;

/** The strategies by name. */
public final class Strategies {

    /** The name that stands for all strategies, of which the best plan is kept. */
    public static final String BEST = "best";

    /** In order of preference when plans are equally small. */
    private static final ImmutableList<OffsetStrategy> ALL =
            ImmutableList.of(new GreedyBySize(), new GreedyByBreadth(), new Naive());

    private Strategies() {}

    /** Returns every name that {@link #named} knows. */
    public static ImmutableSet<String> names() {
        ImmutableSet.Builder<String> names = ImmutableSet.builder();
        ALL.forEach(strategy -> names.add(strategy.name()));
        return names.add(BEST).build();
    }

    /**
     * Returns the strategies that a name stands for, in order of preference: one, or all for {@link
     * #BEST}.
     *
     * @throws IllegalArgumentException if there is none; the message names the nearest name
     */
    public static ImmutableList<OffsetStrategy> named(String name) {
        if (name.equals(BEST)) {
            return ALL;
        }
        return ALL.stream()
                .filter(strategy -> strategy.name().equals(name))
                .findFirst()
                .map(ImmutableList::of)
                .orElseThrow(
                        () ->
                                new IllegalArgumentException(
                                        "no strategy '"
                                                + name
                                                + "'; did you mean '"
                                                + nearest(name)
                                                + "'?"));
    }

    private static String nearest(String name) {
        return names().stream()
                .min(Comparator.comparingInt(known -> editDistance(name, known)))
                .orElseThrow();
    }

    /** Returns how many letters must be put in, left out or replaced (Levenshtein). */
    private static int editDistance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j < row.length; j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j < row.length; j++) {
                int replace = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replace, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[b.length()];
    }
}
