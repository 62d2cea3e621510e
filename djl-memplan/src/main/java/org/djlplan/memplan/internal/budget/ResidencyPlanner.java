package org.djlplan.memplan.internal.budget;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.budget.ResidencyPlan.Action;
import org.djlplan.memplan.internal.budget.ResidencyPlan.Kind;
import org.djlplan.memplan.internal.budget.WeightTrace.Lookup;
import org.djlplan.memplan.internal.budget.WeightTrace.Range;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.ImmutableIntArray;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/**
 * Plans which pieces are in memory at which time, for an engine in which every piece has fixed
 * addresses: the same window as in an arena ({@link LookAhead}). Without placement there is no
 * fragmentation, so the earliest load is the best one.
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

    private final List<WeightUse> uses;
    private final List<Lookup> lookups;
    private final ImmutableLongArray computeNanos;

    /** Uses and lookups, by their first step. */
    private final List<Resident> residents;

    private final LookAhead window;
    private final int hungriestStep;
    private final long leastBytes;

    /** Pieces, or some of their rows, that are in the window. */
    private record Resident(Range pieces, WeightUse use, boolean isLookup) {

        static Resident of(WeightUse use) {
            return new Resident(new Range(use.piece(), use.piece()), use, false);
        }

        static Resident of(Lookup rows) {
            long bytes = WeightUse.roundUp(rows.bytes());
            int piece = rows.pieces().first();
            WeightUse use = new WeightUse(piece, rows.first(), rows.last(), bytes);
            return new Resident(rows.pieces(), use, true);
        }
    }

    /**
     * @param uses by their first step; uses of one piece do not overlap
     * @param lookups by their first step
     * @param computeNanos duration of each step
     */
    public ResidencyPlanner(
            List<WeightUse> uses, List<Lookup> lookups, ImmutableLongArray computeNanos) {
        this.uses = ImmutableList.copyOf(uses);
        this.lookups = ImmutableList.copyOf(lookups);
        this.computeNanos = computeNanos;
        residents =
                Stream.concat(lookups.stream().map(Resident::of), uses.stream().map(Resident::of))
                        .sorted(Comparator.comparingInt(resident -> resident.use.first()))
                        .toList();
        window =
                new LookAhead(
                        residents.stream().map(Resident::use).toList(),
                        new long[computeNanos.length()],
                        notBefore());
        long[] used = usedBytes();
        hungriestStep =
                IntStream.range(0, used.length)
                        .reduce(0, (most, step) -> used[step] > used[most] ? step : most);
        leastBytes = used[hungriestStep];
    }

    /** A piece is loaded after its earlier content was dropped. */
    private int[] notBefore() {
        int[] notBefore = new int[residents.size()];
        Map<Integer, Integer> ends = new HashMap<>();
        for (int i = 0; i < notBefore.length; i++) {
            Range pieces = residents.get(i).pieces;
            int end = residents.get(i).use.last() + 1;
            for (int piece = pieces.first(); piece <= pieces.last(); piece++) {
                notBefore[i] = Math.max(notBefore[i], ends.getOrDefault(piece, 0));
                ends.merge(piece, end, Math::max);
            }
        }
        return notBefore;
    }

    private long[] usedBytes() {
        long[] changes = new long[computeNanos.length() + 1];
        for (Resident resident : residents) {
            changes[resident.use.first()] += resident.use.bytes();
            changes[resident.use.last() + 1] -= resident.use.bytes();
        }
        Arrays.parallelPrefix(changes, Long::sum);
        return changes;
    }

    /** Returns the smallest window: the largest number of bytes that a step uses. */
    public long leastBytes() {
        return leastBytes;
    }

    /** Returns the step that uses the most bytes; on a tie, the first. */
    public int hungriestStep() {
        return hungriestStep;
    }

    /**
     * Plans for a window.
     *
     * @throws IllegalArgumentException if it is smaller than {@link #leastBytes()}
     */
    public ResidencyPlan plan(long windowBytes) {
        checkArgument(
                windowBytes >= leastBytes, "a window of %s of %s bytes", windowBytes, leastBytes);
        Map<Integer, Long> pinned = pinned(windowBytes);
        long pinnedBytes = pinned.values().stream().mapToLong(Long::longValue).sum();
        List<Action> actions = new ArrayList<>();
        uses.stream()
                .map(WeightUse::piece)
                .filter(pinned::containsKey)
                .distinct()
                .forEach(piece -> actions.add(new Action(Kind.PIN, piece, 0)));
        lookups.stream()
                .flatMapToInt(
                        rows -> IntStream.rangeClosed(rows.pieces().first(), rows.pieces().last()))
                .filter(piece -> !pinned.containsKey(piece))
                .distinct()
                .forEach(piece -> actions.add(new Action(Kind.LOOK_UP, piece, 0)));
        int[] needs = new int[computeNanos.length()];
        Arrays.fill(needs, actions.size());
        long loadedBytes = stream(windowBytes - pinnedBytes, pinned.keySet(), actions, needs);
        return new ResidencyPlan(
                actions, ImmutableIntArray.copyOf(needs), windowBytes, pinnedBytes, loadedBytes);
    }

    /** Adds the loads and drops for a window; returns the loaded bytes. */
    private long stream(long windowBytes, Set<Integer> pinned, List<Action> actions, int[] needs) {
        boolean[] stays = new boolean[residents.size()];
        for (int i = 0; i < stays.length; i++) {
            Resident each = residents.get(i);
            stays[i] = !each.isLookup && pinned.contains(each.use.piece());
        }
        int[] after = window.after(stays, windowBytes).orElseThrow();
        PriorityQueue<Resident> inMemory =
                new PriorityQueue<>(Comparator.comparingInt(resident -> resident.use.last()));
        long loadedBytes = 0;
        for (int i = 0; i < stays.length; i++) {
            if (stays[i]) {
                continue;
            }
            while (!inMemory.isEmpty() && inMemory.peek().use.last() < after[i]) {
                Resident ended = inMemory.remove();
                IntStream.rangeClosed(ended.pieces.first(), ended.pieces.last())
                        .filter(piece -> !pinned.contains(piece))
                        .mapToObj(piece -> new Action(Kind.DROP, piece, ended.use.last() + 1))
                        .forEach(actions::add);
            }
            Resident next = residents.get(i);
            inMemory.add(next);
            if (!next.isLookup) {
                actions.add(new Action(Kind.LOAD, next.use.piece(), after[i]));
                loadedBytes += next.use.bytes();
            }
            Arrays.fill(needs, next.use.first(), needs.length, actions.size());
        }
        return loadedBytes;
    }

    /** Returns the pinned pieces and their bytes. */
    private Map<Integer, Long> pinned(long windowBytes) {
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
        long rows =
                residents.stream().filter(Resident::isLookup).mapToLong(r -> r.use.bytes()).sum();
        if (all + rows <= windowBytes) {
            return bytesOfPiece;
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
        long spare = windowBytes - Math.min(windowBytes, AHEAD * leastBytes);
        Map<Integer, Long> pinned = new HashMap<>();
        for (int piece : worthMost) {
            if (bytesOfPiece.get(piece) <= spare) {
                spare -= bytesOfPiece.get(piece);
                pinned.put(piece, bytesOfPiece.get(piece));
            }
        }
        return pinned;
    }
}
