package org.djlplan.memplan.plan.rounds;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import org.djlplan.memplan.usage.UsageRecord;
import org.djlplan.memplan.usage.UsageRecords;

/** Units that have a place, by offset: what a new one is placed around. */
final class PlacedUnits {

    private static final Comparator<Place> BY_OFFSET = Comparator.comparingLong(Place::startBytes);

    /** A unit and the bytes it occupies, half-open. */
    private record Place(UsageRecord unit, long startBytes, long endBytes) {}

    private final List<Place> places = new ArrayList<>();

    /**
     * Adds a unit that is placed at an offset.
     *
     * @throws ArithmeticException if its end does not fit into a long
     */
    void add(UsageRecord unit, long offsetBytes) {
        Place place =
                new Place(unit, offsetBytes, UsageRecords.addBytes(offsetBytes, unit.bytes()));
        int found = Collections.binarySearch(places, place, BY_OFFSET);
        places.add(found >= 0 ? found : -found - 1, place);
    }

    /**
     * Returns the offset in bytes of the smallest gap that a unit fits into between those it
     * overlaps, the lowest of equals; without one, the end of the last of them (Pisarchyk and Lee
     * 2020, Algorithm 3).
     */
    long smallestGap(UsageRecord unit) {
        long free = 0;
        long bestBytes = Long.MAX_VALUE;
        long best = 0;
        boolean found = false;
        for (Place place : places) {
            if (place.unit.overlaps(unit)) {
                long gap = place.startBytes - free;
                if (gap >= unit.bytes() && gap < bestBytes) {
                    bestBytes = gap;
                    best = free;
                    found = true;
                }
                free = Math.max(free, place.endBytes);
            }
        }
        return found ? best : free;
    }
}
