package org.djlplan.memplan.internal.budget;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.budget.Layout.Fit;

/**
 * The preload-aware planning of FlexNN (Li et al. 2024, "FlexNN: Efficient and Adaptive DNN
 * Inference on Memory-Constrained Edge Devices", MobiCom): activations first, in execution order,
 * alternately at the low and the high end of the buffer; then, step by step, the weights, each at
 * the place that permits the earliest preload, and the intermediates (here: the temporaries of
 * kernels). If the intermediates of a step do not fit, the step's weights are placed again without
 * preload.
 */
public final class FlexNnStrategy implements StreamingStrategy {

    @Override
    public String name() {
        return "flexnn";
    }

    @Override
    public Optional<StreamingPlan> plan(StreamingProblem problem, long budgetBytes) {
        Layout layout = new Layout(problem, budgetBytes);
        List<List<Integer>> begun = byFirst(layout, problem.steps());
        boolean low = true;
        for (List<Integer> items : begun) {
            for (int item : items) {
                if (isActivation(layout, item)) {
                    if (!layout.tryPlace(
                            item, layout.first(item), low ? Fit.LOWEST : Fit.HIGHEST)) {
                        return Optional.empty();
                    }
                    low = !low;
                }
            }
        }
        int loader = 0;
        for (List<Integer> items : begun) {
            List<Integer> weights = items.stream().filter(i -> i >= layout.units()).toList();
            List<Integer> others =
                    items.stream()
                            .filter(i -> i < layout.units() && !isActivation(layout, i))
                            .toList();
            int preloaded = preload(layout, weights, loader);
            if (preloaded < 0 || !placeAll(layout, others)) {
                weights.stream().filter(layout::isPlaced).forEach(layout::remove);
                others.stream().filter(layout::isPlaced).forEach(layout::remove);
                if (!placeAll(layout, weights) || !placeAll(layout, others)) {
                    return Optional.empty();
                }
                preloaded = loader;
            }
            loader = preloaded;
        }
        return Optional.of(layout.plan(name()));
    }

    private static List<List<Integer>> byFirst(Layout layout, int steps) {
        List<List<Integer>> begun = new ArrayList<>();
        for (int step = 0; step < steps; step++) {
            begun.add(new ArrayList<>());
        }
        for (int item = 0; item < layout.items(); item++) {
            begun.get(layout.first(item)).add(item);
        }
        return begun;
    }

    private static boolean isActivation(Layout layout, int item) {
        return item < layout.units() && layout.first(item) < layout.last(item);
    }

    /**
     * Places weights with the earliest preload. The loading thread is busy until step {@code
     * loader}, so a place that is free earlier is no better.
     *
     * @return the step from which the thread is free again, −1 if one of the weights fits nowhere
     */
    private static int preload(Layout layout, List<Integer> weights, int loader) {
        int free = loader;
        for (int item : weights) {
            int from = layout.earliest(item, free);
            if (from < 0) {
                return -1;
            }
            layout.tryPlace(item, from, Fit.LOWEST);
            free = Math.max(free, from);
        }
        return free;
    }

    private static boolean placeAll(Layout layout, List<Integer> items) {
        return items.stream().allMatch(i -> layout.tryPlace(i, layout.first(i), Fit.LOWEST));
    }
}
