package org.djlplan.memplan.internal.runtime.torch;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Selects the kinds of inputs that are worth a plan: the first one, because most models have no
 * other, a few that soon come again, and those that recur often. For others a plan saves little,
 * and making it takes time, also that of Java's compilers.
 *
 * @param <K> kinds, equal when they are the same
 */
final class Recurrence<K> {

    /** Number of kinds that only need to come twice. */
    private static final int FEW = 8;

    /** One of the predictions so far in so many, at least, is of a kind that soon came again. */
    private static final int SOON = 16;

    private static final int OFTEN = 64;

    /** One prediction in so many, at least, is of a kind that recurs often. */
    private static final int SHARE = 32;

    private static final int MOST_COUNTED = 1024;

    /** How many predictions in a row have no plan before most are passed over. */
    private static final int MANY = 256;

    /** One in so many is looked at even then. */
    private static final int LOOKED_AT = 4;

    private final AtomicInteger few = new AtomicInteger();
    private final AtomicLong counted = new AtomicLong();
    private final AtomicInteger withoutPlan = new AtomicInteger();
    private final AtomicInteger passedOver = new AtomicInteger();

    /** By use. Guarded by itself. */
    private final Map<K, Integer> counts = new LinkedHashMap<>(16, 0.75f, true);

    /**
     * Returns whether the next prediction's kind need not be asked for, because for long no kind
     * had a plan or was worth one, as when text is generated.
     */
    boolean isPassedOver() {
        return withoutPlan.get() >= MANY && passedOver.incrementAndGet() % LOOKED_AT != 0;
    }

    /** Notes that a prediction's kind has a plan, or is to have one. */
    void found() {
        if (withoutPlan.get() != 0) {
            withoutPlan.set(0);
        }
    }

    /** Counts a kind that has no plan, and returns whether it is worth one. */
    boolean isWorthwhile(K kind) {
        boolean worthwhile = count(kind);
        if (worthwhile) {
            found();
        } else if (withoutPlan.get() < MANY) {
            withoutPlan.incrementAndGet();
        }
        return worthwhile;
    }

    private boolean count(K kind) {
        long all = counted.incrementAndGet();
        int times;
        synchronized (counts) {
            times = counts.merge(kind, 1, Integer::sum);
            if (counts.size() > MOST_COUNTED) {
                counts.remove(counts.keySet().iterator().next());
            }
        }
        if (all == 1 || (times == 2 && (long) times * SOON >= all)) {
            return few.incrementAndGet() <= FEW;
        }
        return times >= OFTEN && (long) times * SHARE >= all;
    }
}
