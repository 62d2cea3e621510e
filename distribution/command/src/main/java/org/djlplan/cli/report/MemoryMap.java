package org.djlplan.cli.report;

import static java.util.Objects.requireNonNullElse;
import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import com.google.gson.annotations.SerializedName;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A model's memory over time: the tensors that are alive at each step, and their place in each
 * strategy's plan. Gson maps it to the part {@code plan} of a report.
 *
 * @param operators type of the operator of each step, in execution order; empty strings if the
 *     steps are not operators
 * @param stepNumbers number of each step in its file; if empty, steps are numbered from 0
 * @param tensors planned tensors first, then the model's inputs and outputs
 * @param breadthBytes sum of the planned tensors alive at each step
 * @param naiveBytes total size of all planned tensors, without shared memory
 * @param lowerBoundBytes maximum operator breadth
 * @param aliasedLowerBoundBytes the same with each alias class counted once
 * @param sharedObjectsLowerBoundBytes sum of positional maxima
 * @param strategies one per plan
 * @param best name of the smallest valid plan
 */
public record MemoryMap(
        List<String> operators,
        List<Integer> stepNumbers,
        List<Tensor> tensors,
        List<Long> breadthBytes,
        long naiveBytes,
        long lowerBoundBytes,
        long aliasedLowerBoundBytes,
        long sharedObjectsLowerBoundBytes,
        List<Strategy> strategies,
        String best) {

    /** Name of the plan that is the engine's own arena. */
    public static final String ENGINE = "engine";

    /** The owner of a tensor's memory. */
    public enum Owner {
        /** The arena; the tensor is passed from one operator to others. */
        @SerializedName("arena")
        ARENA,
        /** The arena; the tensor is scratch memory of one operator. */
        @SerializedName("temporary")
        TEMPORARY,
        /** The caller: inputs and outputs of the model. */
        @SerializedName("io")
        IO
    }

    /**
     * One tensor.
     *
     * @param name possibly empty
     * @param shape dimensions, outermost first; empty where unknown
     * @param type of its elements; empty where unknown
     * @param bytes its size, aligned if it is planned
     * @param first first step that uses it
     * @param last last step that uses it, inclusive
     * @param producer step that writes it; empty where unknown
     * @param consumers steps that read it
     * @param alias index of the tensor whose place it may share
     */
    public record Tensor(
            String name,
            Optional<List<Integer>> shape,
            Optional<String> type,
            long bytes,
            int first,
            int last,
            Optional<Integer> producer,
            List<Integer> consumers,
            Owner owner,
            Optional<Integer> alias) {

        public Tensor {
            checkArgument(name != null && owner != null, "a tensor without a name or an owner");
            checkArgument(bytes >= 0, "a tensor of %s bytes", bytes);
            checkArgument(first >= 0 && first <= last, "alive from %s to %s", first, last);
            shape = requireNonNullElse(shape, Optional.empty());
            type = requireNonNullElse(type, Optional.empty());
            producer = requireNonNullElse(producer, Optional.empty());
            consumers = ImmutableList.copyOf(requireNonNullElse(consumers, List.of()));
            alias = requireNonNullElse(alias, Optional.empty());
        }

        /** Returns whether plans place the tensor. */
        boolean planned() {
            return owner != Owner.IO;
        }
    }

    /**
     * One plan.
     *
     * @param name of the strategy, with {@code "+in-place"} if tensors share places
     * @param totalBytes size of the arena, or of all shared objects together
     * @param millis how long planning took
     * @param valid whether the independent validator found no error
     * @param provedMinimal whether it is proved that no plan with this layout, in which the same
     *     tensors share places, is smaller
     * @param offsets offset in bytes of each tensor, null or absent at the end if it has no place,
     *     with shared objects laid end to end; empty if not included
     * @param objects the shared objects; empty for one arena
     */
    public record Strategy(
            String name,
            Layout layout,
            long totalBytes,
            double millis,
            boolean valid,
            boolean provedMinimal,
            Optional<List<Long>> offsets,
            Optional<List<Span>> objects) {

        public Strategy {
            checkArgument(name != null && layout != null, "a plan without a name or a layout");
            checkArgument(totalBytes >= 0, "a plan of %s bytes", totalBytes);
            checkArgument(millis >= 0 && Double.isFinite(millis), "planned in %s ms", millis);
            offsets = requireNonNullElse(offsets, Optional.empty());
            offsets = offsets.map(list -> Collections.unmodifiableList(new ArrayList<>(list)));
            objects = requireNonNullElse(objects, Optional.empty());
            objects = objects.map(ImmutableList::copyOf);
            for (long offset : places(offsets).values()) {
                // The last tensor in an engine's arena may end before its aligned size.
                checkArgument(
                        offset >= 0 && offset <= totalBytes,
                        "%s: a tensor at %s of %s bytes",
                        name,
                        offset,
                        totalBytes);
            }
        }

        /** Returns the offset in bytes of each placed tensor, by its index. */
        SortedMap<Integer, Long> places() {
            return places(offsets);
        }

        private static SortedMap<Integer, Long> places(Optional<List<Long>> offsets) {
            SortedMap<Integer, Long> places = new TreeMap<>();
            List<Long> list = offsets.orElse(List.of());
            for (int i = 0; i < list.size(); i++) {
                if (list.get(i) != null) {
                    places.put(i, list.get(i));
                }
            }
            return places;
        }

        private Strategy withoutOffsets() {
            return new Strategy(
                    name,
                    layout,
                    totalBytes,
                    millis,
                    valid,
                    provedMinimal,
                    Optional.empty(),
                    objects);
        }
    }

    /** Form of a plan. */
    public enum Layout {
        /** Every tensor has its own place. */
        @SerializedName("naive")
        NAIVE,
        /** Every tensor has an offset in one arena. */
        @SerializedName("offsets")
        OFFSETS,
        /** Buffers that hold one tensor at a time. */
        @SerializedName("shared-objects")
        SHARED_OBJECTS
    }

    /** A shared object's place, in bytes, if all objects lie end to end. */
    public record Span(long offset, long bytes) {}

    public MemoryMap {
        operators = ImmutableList.copyOf(operators);
        stepNumbers = ImmutableList.copyOf(requireNonNullElse(stepNumbers, List.of()));
        tensors = ImmutableList.copyOf(tensors);
        breadthBytes = ImmutableList.copyOf(breadthBytes);
        strategies = ImmutableList.copyOf(strategies);
        int steps = operators.size();
        checkArgument(breadthBytes.size() == steps, "breadths of %s steps", breadthBytes.size());
        int numbers = stepNumbers.size();
        checkArgument(numbers == 0 || numbers == steps, "%s numbers of steps", numbers);
        for (Tensor tensor : tensors) {
            checkArgument(tensor.last() < steps, "alive at %s of %s steps", tensor.last(), steps);
            int alias = tensor.alias().orElse(0);
            checkArgument(alias >= 0 && alias < tensors.size(), "a tensor shares with %s", alias);
        }
        for (Strategy strategy : strategies) {
            int offsets = strategy.offsets().map(List::size).orElse(0);
            checkArgument(offsets <= tensors.size(), "%s offsets of tensors", offsets);
        }
        String name = best;
        checkArgument(strategies.stream().anyMatch(s -> s.name().equals(name)), "best: %s", name);
    }

    /** Returns the smallest valid plan. */
    public Strategy bestStrategy() {
        return strategies.stream().filter(s -> s.name().equals(best)).findFirst().orElseThrow();
    }

    /** Returns the number of planned tensors. */
    public long records() {
        return tensors.stream().filter(Tensor::planned).count();
    }

    /**
     * Returns a map whose plans have at most {@code mostOffsets} offsets together, but at least the
     * best plan, the engine's, the naive one and the smallest other have theirs.
     */
    MemoryMap withOffsets(int mostOffsets) {
        int always = 4;
        List<String> shown =
                Stream.concat(
                                Stream.of(best, ENGINE),
                                strategies.stream()
                                        .sorted(
                                                Comparator.comparing(
                                                                (Strategy each) ->
                                                                        each.layout()
                                                                                != Layout.NAIVE)
                                                        .thenComparing(Strategy::totalBytes))
                                        .map(Strategy::name))
                        .filter(name -> strategies.stream().anyMatch(s -> s.name().equals(name)))
                        .distinct()
                        .limit(Math.max(always, mostOffsets / Math.max(1, tensors.size())))
                        .toList();
        return new MemoryMap(
                operators,
                stepNumbers,
                tensors,
                breadthBytes,
                naiveBytes,
                lowerBoundBytes,
                aliasedLowerBoundBytes,
                sharedObjectsLowerBoundBytes,
                strategies.stream()
                        .map(each -> shown.contains(each.name()) ? each : each.withoutOffsets())
                        .toList(),
                best);
    }
}
