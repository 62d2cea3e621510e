package org.djlplan.study.shared;

import java.util.Map;
import java.util.NavigableMap;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.djlplan.memplan.internal.usage.UsageRecord;

/** An object that receives units in any order: its size, and when it is in use. */
final class Schedule {

    /** The last operator of each unit, by the first. */
    private final NavigableMap<Integer, Integer> uses = new TreeMap<>();

    private long bytes;

    /** Returns the size in bytes of the largest unit. */
    long bytes() {
        return bytes;
    }

    void add(UsageRecord unit) {
        uses.put(unit.first(), unit.last());
        bytes = Math.max(bytes, unit.bytes());
    }

    /**
     * Returns the number of operators from a unit to the nearest other use; empty if the object is
     * not free throughout the unit's interval. The object must have a unit.
     */
    OptionalLong idle(UsageRecord unit) {
        Map.Entry<Integer, Integer> before = uses.floorEntry(unit.last());
        if (before != null && before.getValue() >= unit.first()) {
            return OptionalLong.empty();
        }
        Integer after = uses.higherKey(unit.last());
        long idleBefore = before == null ? Long.MAX_VALUE : unit.first() - before.getValue();
        long idleAfter = after == null ? Long.MAX_VALUE : after - unit.last();
        return OptionalLong.of(Math.min(idleBefore, idleAfter));
    }
}
