package org.djlplan.memplan.internal.plan;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeMap;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.math.LongMath;

/**
 * Validates a plan against its problem, independently of the strategy: it derives places and their
 * lifetimes from the records and alias classes itself.
 *
 * <p>Members of an alias class share one place, so they may overlap. The place belongs to the whole
 * class from its first use to its last. No other tensor may overlap it in that time, and neither
 * may a tensor in conflict with any member.
 *
 * <p>A sweep over time keeps the places in use in order of their offsets, and compares each new
 * place with its two neighbours: O(n log n), which is enough to detect any overlap. If there are
 * overlaps, each place is then compared with all places that start before its end, to report every
 * pair: O(n²) in the worst case, which takes well under a second for 30,000 records.
 */
public final class PlanValidator {

    /** Limit of the reported violations. */
    public static final int MOST_VIOLATIONS = 1000;

    /** A place in the arena, half-open, and its time of use, inclusive. */
    private record Place(int tensor, int first, int last, long startBytes, long endBytes) {}

    private final long arenaBytes;
    private final long alignmentBytes;
    private final List<Violation> violations = new ArrayList<>();

    private PlanValidator(long arenaBytes, long alignmentBytes) {
        checkArgument(alignmentBytes > 0, "alignment of %s bytes", alignmentBytes);
        this.arenaBytes = arenaBytes;
        this.alignmentBytes = alignmentBytes;
    }

    /**
     * Returns the violations of a plan whose arena has {@link OffsetPlan#totalBytes()}; empty if it
     * is valid.
     *
     * @param alignmentBytes required alignment of offsets
     */
    public static ImmutableList<Violation> violations(OffsetPlan plan, long alignmentBytes) {
        Map<Integer, Long> offsets = new HashMap<>();
        for (UsageRecord record : plan.problem().records()) {
            offsets.put(record.tensor(), plan.offsetOf(record.tensor()));
        }
        return violations(plan.problem(), offsets, plan.totalBytes(), alignmentBytes);
    }

    /**
     * Returns the violations of {@code offsets}; empty if they are a valid plan. At most {@link
     * #MOST_VIOLATIONS} are listed.
     *
     * @param problem that was planned
     * @param offsets offset in bytes of every tensor, by tensor id
     * @param arenaBytes claimed size of the arena
     * @param alignmentBytes required alignment of offsets
     */
    public static ImmutableList<Violation> violations(
            PlanningProblem problem,
            Map<Integer, Long> offsets,
            long arenaBytes,
            long alignmentBytes) {
        PlanValidator validator = new PlanValidator(arenaBytes, alignmentBytes);
        List<UsageRecord> placed = validator.checkEach(problem.records(), offsets);
        List<Place> places = validator.places(placed, problem.aliasClasses(), offsets);
        if (anyOverlap(places)) {
            validator.reportPairs(places);
        }
        if (!problem.conflicts().isEmpty()) {
            validator.reportConflicts(problem, places);
        }
        return ImmutableList.copyOf(validator.violations);
    }

    /** Checks every tensor alone, and returns the records that have an offset. */
    private List<UsageRecord> checkEach(List<UsageRecord> records, Map<Integer, Long> offsets) {
        List<UsageRecord> placed = new ArrayList<>();
        for (UsageRecord record : records) {
            int tensor = record.tensor();
            Long offset = offsets.get(tensor);
            if (offset == null) {
                report("no-offset", "%s has no offset", tensor);
                continue;
            }
            placed.add(record);
            long end = LongMath.saturatedAdd(offset, record.bytes());
            if (offset < 0) {
                report("negative-offset", "%s has the negative offset " + offset, tensor);
            }
            if (offset % alignmentBytes != 0) {
                report(
                        "misaligned-offset",
                        "%s has the offset " + offset + ", no multiple of " + alignmentBytes,
                        tensor);
            }
            if (end > arenaBytes) {
                report(
                        "outside-arena",
                        "%s ends at " + end + " in an arena of " + arenaBytes,
                        tensor);
            }
        }
        return placed;
    }

    /** Merges each alias class into one place; reports members that lie elsewhere. */
    private List<Place> places(
            List<UsageRecord> records,
            List<? extends List<Integer>> aliasClasses,
            Map<Integer, Long> offsets) {
        Map<Integer, Place> byTensor = new HashMap<>();
        for (UsageRecord r : records) {
            long start = offsets.get(r.tensor());
            long end = LongMath.saturatedAdd(start, r.bytes());
            byTensor.put(r.tensor(), new Place(r.tensor(), r.first(), r.last(), start, end));
        }
        for (List<Integer> members : aliasClasses) {
            List<Place> found = new ArrayList<>();
            for (int member : members) {
                if (byTensor.containsKey(member)) {
                    found.add(byTensor.get(member));
                }
            }
            if (found.isEmpty()) {
                continue;
            }
            Place merged = found.get(0);
            Set<Long> starts = new HashSet<>(List.of(merged.startBytes));
            for (Place other : found.subList(1, found.size())) {
                byTensor.remove(other.tensor);
                if (starts.add(other.startBytes)) {
                    report(
                            "alias-apart",
                            "%s is to share the place of %s but does not",
                            other.tensor,
                            merged.tensor);
                }
                merged =
                        new Place(
                                merged.tensor,
                                Math.min(merged.first, other.first),
                                Math.max(merged.last, other.last),
                                Math.min(merged.startBytes, other.startBytes),
                                Math.max(merged.endBytes, other.endBytes));
            }
            byTensor.put(merged.tensor, merged);
        }
        List<Place> places = new ArrayList<>(byTensor.values());
        places.sort(
                (a, b) ->
                        a.first != b.first
                                ? Integer.compare(a.first, b.first)
                                : Integer.compare(a.tensor, b.tensor));
        return places;
    }

    /**
     * Returns whether any two places overlap.
     *
     * @param places by first operator
     */
    private static boolean anyOverlap(List<Place> places) {
        NavigableMap<Long, Place> inUse = new TreeMap<>();
        PriorityQueue<Place> byLast =
                new PriorityQueue<>((a, b) -> Integer.compare(a.last, b.last));
        for (Place place : places) {
            while (!byLast.isEmpty() && byLast.peek().last < place.first) {
                inUse.remove(byLast.remove().startBytes);
            }
            Map.Entry<Long, Place> below = inUse.floorEntry(place.startBytes);
            Map.Entry<Long, Place> above = inUse.ceilingEntry(place.startBytes);
            // Two places with the same start are distinguished below, in case they are empty.
            if ((below != null && below.getValue().endBytes > place.startBytes)
                    || (above != null && above.getValue().startBytes < place.endBytes)
                    || inUse.put(place.startBytes, place) != null) {
                return true;
            }
            byLast.add(place);
        }
        return false;
    }

    private void reportPairs(List<Place> places) {
        int count = places.size();
        int[] first = new int[count];
        long[] start = new long[count];
        long[] end = new long[count];
        for (int i = 0; i < count; i++) {
            first[i] = places.get(i).first;
            start[i] = places.get(i).startBytes;
            end[i] = places.get(i).endBytes;
        }
        for (int i = 0; i < count && violations.size() < MOST_VIOLATIONS; i++) {
            int last = places.get(i).last;
            for (int j = i + 1; j < count && first[j] <= last; j++) {
                if (start[i] < end[j] && start[j] < end[i]) {
                    report(
                            "overlap",
                            "%s and %s overlap in time and space",
                            places.get(i).tensor,
                            places.get(j).tensor);
                }
            }
        }
    }

    /**
     * Reports overlaps of the pairs that the problem lists, except pairs that also overlap in time.
     */
    private void reportConflicts(PlanningProblem problem, List<Place> places) {
        Map<Integer, Place> placeOf = new HashMap<>();
        places.forEach(place -> placeOf.put(place.tensor, place));
        for (List<Integer> members : problem.aliasClasses()) {
            members.stream()
                    .map(placeOf::get)
                    .filter(Objects::nonNull)
                    .findFirst()
                    .ifPresent(place -> members.forEach(member -> placeOf.put(member, place)));
        }
        Set<Set<Integer>> reported = new HashSet<>();
        for (int tensor : problem.conflicts().tensors()) {
            for (int other : problem.conflicts().of(tensor).filter(id -> id > tensor).toArray()) {
                Place a = placeOf.get(tensor);
                Place b = placeOf.get(other);
                boolean meet =
                        a != null
                                && b != null
                                && a.tensor != b.tensor
                                && a.startBytes < b.endBytes
                                && b.startBytes < a.endBytes
                                && (a.last < b.first || b.last < a.first);
                if (meet && reported.add(Set.of(a.tensor, b.tensor))) {
                    report(
                            "conflict-overlap",
                            "%s and %s overlap in space and may be alive at once in another order",
                            a.tensor,
                            b.tensor);
                }
            }
        }
    }

    private void report(String rule, String sentence, Integer... tensors) {
        if (violations.size() < MOST_VIOLATIONS) {
            violations.add(new Violation(rule, List.of(tensors), sentence));
        }
    }
}
