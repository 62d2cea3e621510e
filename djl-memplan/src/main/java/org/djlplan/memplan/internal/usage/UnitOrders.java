package org.djlplan.memplan.internal.usage;

/** The orders in which strategies place units. */
public final class UnitOrders {

    private UnitOrders() {}

    public static int byTensor(UsageRecord a, UsageRecord b) {
        return Integer.compare(a.tensor(), b.tensor());
    }

    /** Compares by size, largest first, then by tensor id. */
    public static int bySize(UsageRecord a, UsageRecord b) {
        int bytes = Long.compare(b.bytes(), a.bytes());
        return bytes != 0 ? bytes : byTensor(a, b);
    }

    /** Compares by size, largest first, then by first operator, then by tensor id. */
    public static int bySizeAndFirst(UsageRecord a, UsageRecord b) {
        int bytes = Long.compare(b.bytes(), a.bytes());
        return bytes != 0 ? bytes : byFirst(a, b);
    }

    public static int byFirst(UsageRecord a, UsageRecord b) {
        int first = Integer.compare(a.first(), b.first());
        return first != 0 ? first : byTensor(a, b);
    }

    /** Compares by first operator, then by size, largest first, then by tensor id. */
    public static int byFirstAndSize(UsageRecord a, UsageRecord b) {
        int first = Integer.compare(a.first(), b.first());
        return first != 0 ? first : bySize(a, b);
    }

    /**
     * Compares by the number of operators during which units live, largest first, then by size,
     * largest first, then by tensor id.
     */
    public static int byLength(UsageRecord a, UsageRecord b) {
        int length = Long.compare((long) b.last() - b.first(), (long) a.last() - a.first());
        return length != 0 ? length : bySize(a, b);
    }
}
