package org.djlplan.memplan.internal.budget;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.ImmutableIntArray;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/**
 * Plans which pieces are in memory at which time, for an engine in which every piece has fixed
 * addresses: a window slides over the uses in their order, and each piece is loaded as early as the
 * window has room (Demand Layering, RTSS 2022, with a window of bytes instead of two layers).
 * Without placement there is no fragmentation, so the earliest load is the best one.
 *
 * <p>The part of the window that early loads do not need holds pinned pieces: those with the least
 * computing time per byte, because their loads cannot be hidden.
 *
 * <p>Weights with row lookups are not loaded; the window has room for the rows while they are read.
 */
public final class ResidencyPlanner {

    /**
     * If possible, the window has room for the running step and twice as much for the next ones.
     */
    private static final int AHEAD = 3;

    private final int steps;
    private final List<WeightUse> uses;
    private final List<WeightTrace.Lookup> lookups;
    private final ImmutableLongArray computeNanos;
    private final int hungriestStep;
    private final long leastBytes;

    /** Pieces or rows in the window, and the first and the last step that read them. */
    private record Resident(WeightTrace.Range pieces, int first, int last, long bytes, Kind kind) {

        /** How the content is loaded. */
        private enum Kind {
            LOADED,
            LOOKED_UP
        }

        static Resident of(WeightUse use) {
            WeightTrace.Range piece = new WeightTrace.Range(use.piece(), use.piece());
            return new Resident(piece, use.first(), use.last(), use.bytes(), Kind.LOADED);
        }

        static Resident of(WeightTrace.Lookup rows) {
            return new Resident(
                    rows.pieces(), rows.first(), rows.last(), rows.bytes(), Kind.LOOKED_UP);
        }

        boolean shares(Resident other) {
            return pieces.first() <= other.pieces.last() && other.pieces.first() <= pieces.last();
        }
    }

    /**
     * @param uses by their first step; uses of one piece do not overlap
     * @param lookups by their first step
     * @param computeNanos duration of each step
     */
    public ResidencyPlanner(
            List<WeightUse> uses,
            List<WeightTrace.Lookup> lookups,
            ImmutableLongArray computeNanos) {
        this.uses = ImmutableList.copyOf(uses);
        this.lookups = ImmutableList.copyOf(lookups);
        this.computeNanos = computeNanos;
        steps = computeNanos.length();
        long[] used = usedBytes();
        int hungriest = 0;
        for (int step = 1; step < steps; step++) {
            hungriest = used[step] > used[hungriest] ? step : hungriest;
        }
        hungriestStep = hungriest;
        leastBytes = used[hungriest];
    }

    /** Returns the smallest window: the largest number of bytes that a step uses. */
    public long leastBytes() {
        return leastBytes;
    }

    /** Returns the step that uses the most bytes; on a tie, the first. */
    public int hungriestStep() {
        return hungriestStep;
    }

    /** Returns the bytes of each step; the last element is of no step. */
    private long[] usedBytes() {
        long[] changes = new long[steps + 1];
        for (Resident resident : residents(uses)) {
            changes[resident.first()] += resident.bytes();
            changes[resident.last() + 1] -= resident.bytes();
        }
        for (int step = 1; step < steps; step++) {
            changes[step] += changes[step - 1];
        }
        return changes;
    }

    /** Returns uses and all lookups, by their first step. */
    private List<Resident> residents(List<WeightUse> some) {
        return Stream.concat(lookups.stream().map(Resident::of), some.stream().map(Resident::of))
                .sorted(Comparator.comparingInt(Resident::first))
                .toList();
    }

    /**
     * Plans for a window.
     *
     * @throws IllegalArgumentException if it is smaller than {@link #leastBytes()}
     */
    public ResidencyPlan plan(long windowBytes) {
        long least = leastBytes();
        checkArgument(windowBytes >= least, "a window of %s of %s bytes", windowBytes, least);
        Set<Integer> pinned = pinned(windowBytes);
        List<WeightUse> streamed =
                uses.stream().filter(use -> !pinned.contains(use.piece())).toList();
        long pinnedBytes = 0;
        List<ResidencyPlan.Action> actions = new ArrayList<>();
        Set<Integer> begun = new HashSet<>();
        for (WeightUse use : uses) {
            if (pinned.contains(use.piece()) && begun.add(use.piece())) {
                pinnedBytes += use.bytes();
                actions.add(new ResidencyPlan.Action(ResidencyPlan.Kind.PIN, use.piece(), 0));
            }
        }
        lookups.stream()
                .flatMapToInt(
                        rows -> IntStream.rangeClosed(rows.pieces().first(), rows.pieces().last()))
                .filter(piece -> !pinned.contains(piece))
                .distinct()
                .mapToObj(piece -> new ResidencyPlan.Action(ResidencyPlan.Kind.LOOK_UP, piece, 0))
                .forEach(actions::add);
        int[] needs = new int[steps];
        Arrays.fill(needs, actions.size());
        stream(residents(streamed), windowBytes - pinnedBytes, pinned, actions, needs);
        return new ResidencyPlan(
                actions,
                ImmutableIntArray.copyOf(needs),
                windowBytes,
                pinnedBytes,
                streamed.stream().mapToLong(WeightUse::bytes).sum());
    }

    /** Adds the loads and drops for a window of a number of bytes. */
    private void stream(
            List<Resident> streamed,
            long windowBytes,
            Set<Integer> pinned,
            List<ResidencyPlan.Action> actions,
            int[] needs) {
        List<Resident> inMemory = new ArrayList<>();
        long bytesInMemory = 0;
        int after = 0;
        for (Resident use : streamed) {
            inMemory.sort(Comparator.comparingInt(Resident::last));
            // Drops the content that ends first, until there is room and the piece itself was
            // dropped.
            while (!inMemory.isEmpty()
                    && (bytesInMemory + use.bytes() > windowBytes
                            || inMemory.get(0).last() < after
                            || inMemory.stream().anyMatch(use::shares))) {
                Resident ended = inMemory.remove(0);
                bytesInMemory -= ended.bytes();
                after = Math.max(after, ended.last() + 1);
                for (int piece = ended.pieces().first(); piece <= ended.pieces().last(); piece++) {
                    if (!pinned.contains(piece)) {
                        actions.add(
                                new ResidencyPlan.Action(ResidencyPlan.Kind.DROP, piece, after));
                    }
                }
            }
            inMemory.add(use);
            bytesInMemory += use.bytes();
            if (use.kind() == Resident.Kind.LOADED) {
                actions.add(
                        new ResidencyPlan.Action(
                                ResidencyPlan.Kind.LOAD, use.pieces().first(), after));
            }
            for (int step = use.first(); step < steps && needs[step] < actions.size(); step++) {
                needs[step] = actions.size();
            }
        }
    }

    /** Returns the pinned pieces. */
    private Set<Integer> pinned(long windowBytes) {
        Map<Integer, Long> nanosPerPiece = new HashMap<>();
        Map<Integer, Long> bytesOfPiece = new HashMap<>();
        for (WeightUse use : uses) {
            long nanos = 0;
            for (int step = use.first(); step <= use.last(); step++) {
                nanos += computeNanos.get(step);
            }
            nanosPerPiece.merge(use.piece(), nanos, Math::min);
            bytesOfPiece.put(use.piece(), use.bytes());
        }
        long all = bytesOfPiece.values().stream().mapToLong(Long::longValue).sum();
        long rows = lookups.stream().mapToLong(WeightTrace.Lookup::bytes).sum();
        if (all + rows <= windowBytes) {
            return bytesOfPiece.keySet();
        }
        List<Integer> worthMost =
                bytesOfPiece.keySet().stream()
                        .sorted(
                                Comparator.<Integer>comparingDouble(
                                                piece ->
                                                        (double) nanosPerPiece.get(piece)
                                                                / bytesOfPiece.get(piece))
                                        .thenComparingInt(piece -> piece))
                        .toList();
        long spare = windowBytes - Math.min(windowBytes, AHEAD * leastBytes());
        Set<Integer> pinned = new HashSet<>();
        for (int piece : worthMost) {
            if (bytesOfPiece.get(piece) <= spare) {
                spare -= bytesOfPiece.get(piece);
                pinned.add(piece);
            }
        }
        return pinned;
    }
}
