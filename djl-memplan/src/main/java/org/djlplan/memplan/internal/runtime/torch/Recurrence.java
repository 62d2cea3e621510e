package org.djlplan.memplan.internal.runtime.torch;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Selects the kinds of inputs that are worth a plan: the first few, because most models have no
 * more, and kinds that recur often. For other kinds a plan saves little, and making it takes time.
 *
 * @param <K> the type of kinds, compared by {@code equals}
 */
final class Recurrence<K> {

    static final int FIRST = 8;
    static final int OFTEN = 64;

    /** A kind recurs often if at least one prediction in this many is of the kind. */
    private static final int SHARE = 32;

    private static final int MOST_COUNTED = 1024;

    /** How many predictions in a row have no plan before most are passed over. */
    private static final int MANY = 256;

    /** Even then the kind of one prediction in this many is determined. */
    private static final int LOOKED_AT = 4;

    private final AtomicInteger kinds = new AtomicInteger();
    private final AtomicLong counted = new AtomicLong();
    private final AtomicInteger withoutPlan = new AtomicInteger();
    private final AtomicInteger passedOver = new AtomicInteger();

    /** By use. Guarded by itself. */
    private final Map<K, Integer> counts = new LinkedHashMap<>(16, 0.75f, true);

    /**
     * Returns whether the next prediction's kind need not be determined, because for long no kind
     * had a plan or was worth one, for example while text is generated.
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
        if (times == 1) {
            return kinds.incrementAndGet() <= FIRST;
        }
        return times >= OFTEN && (long) times * SHARE >= all;
    }
}
