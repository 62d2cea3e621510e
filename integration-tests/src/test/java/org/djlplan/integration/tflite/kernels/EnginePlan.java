package org.djlplan.integration.tflite.kernels;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.internal.runtime.tflite.EngineView;
import org.djlplan.thirdparty.guava.collect.Range;
import org.djlplan.thirdparty.guava.collect.RangeMap;
import org.djlplan.thirdparty.guava.collect.TreeRangeMap;

/**
 * Follows, operator by operator, which tensor's content is at which place of the engine's own
 * arena.
 */
final class EnginePlan {

    private final EngineView view;
    private final Graph graph;

    /**
     * The tensor whose content each tensor has; it is another one if an operator passed the content
     * on.
     */
    private final Map<Integer, Integer> contents = new HashMap<>();

    private final RangeMap<Long, Integer> arena = TreeRangeMap.create();

    private EnginePlan(EngineView view) {
        this.view = view;
        graph = view.graph();
    }

    /** Returns the first tensor that is read after the engine let an operator overwrite it. */
    static Optional<Integer> overwritten(EngineView view) {
        return new EnginePlan(view).overwritten();
    }

    private Optional<Integer> overwritten() {
        graph.inputs().forEach(id -> write(id, id));
        for (Operator operator : graph.operators()) {
            operator.temporaries().forEach(id -> write(id, id));
            Optional<Integer> lost = lost(operator.inputs());
            if (lost.isPresent()) {
                return lost;
            }
            operator.outputs().forEach(id -> write(id, content(operator, id)));
        }
        return lost(graph.outputs());
    }

    private int content(Operator operator, int output) {
        return operator.inPlace()
                .filter(Operator.InPlace::copies)
                .map(told -> contents.get(operator.inputs().get(0)))
                .orElse(output);
    }

    private Optional<Range<Long>> place(int id) {
        return Optional.ofNullable(view.arenaOffsets().get(id))
                .map(begin -> Range.closedOpen(begin, begin + graph.tensors().get(id).bytes()));
    }

    private void write(int id, int content) {
        contents.put(id, content);
        place(id).ifPresent(place -> arena.put(place, content));
    }

    private Optional<Integer> lost(List<Integer> ids) {
        return ids.stream()
                .filter(contents::containsKey)
                .filter(id -> place(id).filter(place -> !holds(place, id)).isPresent())
                .findFirst();
    }

    private boolean holds(Range<Long> place, int id) {
        return arena.subRangeMap(place).asMapOfRanges().values().stream()
                .allMatch(contents.get(id)::equals);
    }
}
