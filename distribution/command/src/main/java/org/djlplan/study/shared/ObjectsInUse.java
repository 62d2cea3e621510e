package org.djlplan.study.shared;

import java.util.Collection;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.function.IntConsumer;
import org.djlplan.memplan.internal.usage.UnitOrders;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Tracks which shared objects hold a unit while units are processed in execution order, for {@link
 * GreedyInOrder} and {@link EqualitySizes}.
 */
final class ObjectsInUse {

    private record Use(int last, int object) {}

    private final PriorityQueue<Use> uses =
            new PriorityQueue<>(Comparator.comparingInt(Use::last).thenComparingInt(Use::object));

    /** Returns the units in the order in which they are first written, ties by tensor id. */
    static ImmutableList<UsageRecord> inOrder(Collection<UsageRecord> units) {
        return ImmutableList.sortedCopyOf(UnitOrders::byFirst, units);
    }

    /** Records that {@code object} holds {@code unit} until its last operator is done. */
    void use(int object, UsageRecord unit) {
        uses.add(new Use(unit.last(), object));
    }

    /** Releases every object whose unit is done before {@code unit} starts, first done first. */
    void release(UsageRecord unit, IntConsumer released) {
        while (!uses.isEmpty() && uses.element().last < unit.first()) {
            released.accept(uses.remove().object);
        }
    }
}
