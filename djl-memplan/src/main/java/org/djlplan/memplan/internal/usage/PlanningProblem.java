package org.djlplan.memplan.internal.usage;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * The problem that a strategy solves: usage records; alias classes of tensors that share one place
 * because one overwrites the other or views it; and optionally {@link Conflicts}, if operators need
 * not run in serial order.
 *
 * <p>A strategy places <em>units</em>: a single tensor, or a whole alias class, whose interval
 * spans its members and whose size is that of the largest member.
 */
public final class PlanningProblem {

    private final ImmutableList<UsageRecord> records;
    private final ImmutableList<ImmutableList<Integer>> aliasClasses;
    private final ImmutableList<UsageRecord> units;
    private final Map<Integer, Integer> unitOf = new HashMap<>();
    private final Conflicts conflicts;
    private final Conflicts unitConflicts;

    public PlanningProblem(List<UsageRecord> records) {
        this(records, List.of());
    }

    /**
     * @param records one per tensor, in any order
     * @param aliasClasses disjoint sets of two or more tensors, each with a record
     */
    public PlanningProblem(List<UsageRecord> records, List<? extends List<Integer>> aliasClasses) {
        this(records, aliasClasses, Conflicts.NONE);
    }

    private PlanningProblem(
            List<UsageRecord> records,
            List<? extends List<Integer>> aliasClasses,
            Conflicts conflicts) {
        this.records = ImmutableList.sortedCopyOf(UnitOrders::byTensor, records);
        Map<Integer, UsageRecord> byTensor = new HashMap<>();
        for (UsageRecord r : this.records) {
            checkArgument(byTensor.put(r.tensor(), r) == null, "two records of %s", r.tensor());
        }
        ImmutableList.Builder<ImmutableList<Integer>> classes = ImmutableList.builder();
        ImmutableList.Builder<UsageRecord> merged = ImmutableList.builder();
        Set<Integer> aliased = new HashSet<>();
        for (List<Integer> members : aliasClasses) {
            ImmutableList<Integer> sorted = ImmutableList.sortedCopyOf(members);
            checkArgument(sorted.size() > 1, "alias class of fewer than two tensors: %s", sorted);
            UsageRecord unit = null;
            for (int tensor : sorted) {
                UsageRecord record = byTensor.get(tensor);
                checkArgument(record != null, "alias class names %s, which has no record", tensor);
                checkArgument(aliased.add(tensor), "%s is in two alias classes", tensor);
                unit = unit == null ? record : span(unit, record);
                unitOf.put(tensor, sorted.get(0));
            }
            classes.add(sorted);
            merged.add(unit);
        }
        for (UsageRecord r : this.records) {
            if (!aliased.contains(r.tensor())) {
                merged.add(r);
                unitOf.put(r.tensor(), r.tensor());
            }
        }
        this.aliasClasses = classes.build();
        this.units = ImmutableList.sortedCopyOf(UnitOrders::byTensor, merged.build());
        this.conflicts = conflicts;
        for (int tensor : conflicts.tensors()) {
            int unused = unitOf(tensor);
        }
        this.unitConflicts = this.aliasClasses.isEmpty() ? conflicts : conflicts.map(this::unitOf);
    }

    /**
     * Returns this problem with additional pairs of tensors that must not share memory, besides
     * those whose intervals overlap.
     *
     * @throws IllegalArgumentException if a tensor of a pair has no record
     */
    public PlanningProblem withConflicts(Conflicts pairs) {
        return new PlanningProblem(records, aliasClasses, pairs);
    }

    private static UsageRecord span(UsageRecord a, UsageRecord b) {
        return new UsageRecord(
                a.tensor(),
                Math.min(a.first(), b.first()),
                Math.max(a.last(), b.last()),
                Math.max(a.bytes(), b.bytes()));
    }

    /** Returns one record per tensor, by tensor id. */
    public ImmutableList<UsageRecord> records() {
        return records;
    }

    /** Returns the sets of tensors that share a place, each sorted by id. */
    public ImmutableList<ImmutableList<Integer>> aliasClasses() {
        return aliasClasses;
    }

    /**
     * Returns the units that a strategy places, by tensor id; the unit of an alias class has the
     * smallest id of the class.
     */
    public ImmutableList<UsageRecord> units() {
        return units;
    }

    /** Returns the id of the unit of {@code tensor}. */
    public int unitOf(int tensor) {
        Integer unit = unitOf.get(tensor);
        checkArgument(unit != null, "no record of tensor %s", tensor);
        return unit;
    }

    /** Returns the pairs that must not share memory although their intervals do not overlap. */
    public Conflicts conflicts() {
        return conflicts;
    }

    /** Returns whether intervals alone decide which units may share memory. */
    public boolean serial() {
        return unitConflicts.isEmpty();
    }

    /**
     * Returns whether two different units must not share memory: their intervals overlap, or some
     * of their tensors are in {@link #conflicts()}.
     */
    public boolean conflict(UsageRecord unit, UsageRecord other) {
        return unit.overlaps(other) || unitConflicts.contains(unit.tensor(), other.tensor());
    }
}
