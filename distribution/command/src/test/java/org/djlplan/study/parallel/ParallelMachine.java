package org.djlplan.study.parallel;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.usage.UsageRecord;

/**
 * A machine that starts an operator when its inputs are computed, runs several operators at once,
 * and ends them in any order. It checks that an operator's inputs stay intact until the operator
 * ends, unless the operator overwrites them. A running operator writes its outputs and temporaries
 * until it ends. Memory is modelled as the last content written to each unit of 64 bytes; a view
 * has the content of its input.
 */
final class ParallelMachine {

    private static final Set<String> VIEWS = Set.of("RESHAPE", "SQUEEZE", "EXPAND_DIMS");

    private final Graph graph;
    private final OffsetPlan plan;
    private final Map<Integer, UsageRecord> records = new HashMap<>();
    private final int[] memory;
    private final int[] content;
    private final Set<Integer> ended = new HashSet<>();
    private final List<Operator> running = new ArrayList<>();

    private ParallelMachine(OffsetPlan plan, Graph graph) {
        this.graph = graph;
        this.plan = plan;
        plan.problem().records().forEach(record -> records.put(record.tensor(), record));
        memory = new int[Math.toIntExact(plan.totalBytes() / 64)];
        content = new int[graph.tensors().size()];
        Arrays.fill(memory, -1);
        Arrays.setAll(content, id -> id);
        for (Operator operator : graph.operators()) {
            if (VIEWS.contains(operator.type())) {
                content[operator.outputs().get(0)] = content[operator.inputs().get(0)];
            }
        }
    }

    /** Returns whether every operator finds its inputs and results intact in a random order. */
    static boolean runsIntact(Graph graph, OffsetPlan plan, Random random) {
        return new ParallelMachine(plan, graph).run(random);
    }

    private boolean run(Random random) {
        List<Operator> waiting = new ArrayList<>(graph.operators());
        int most = 1 + random.nextInt(4);
        while (!waiting.isEmpty() || !running.isEmpty()) {
            List<Operator> ready = waiting.stream().filter(this::isReady).toList();
            boolean start =
                    running.isEmpty()
                            || (!ready.isEmpty() && running.size() < most && random.nextBoolean());
            boolean intact;
            if (start) {
                Operator next = ready.get(random.nextInt(ready.size()));
                waiting.remove(next);
                intact = start(next);
            } else {
                intact = end(running.remove(random.nextInt(running.size())));
            }
            if (!intact) {
                return false;
            }
        }
        return true;
    }

    private boolean isReady(Operator operator) {
        return graph.operators().stream()
                .filter(other -> other.outputs().stream().anyMatch(operator.inputs()::contains))
                .allMatch(other -> ended.contains(other.index()));
    }

    private boolean start(Operator operator) {
        boolean intact = operator.inputs().stream().allMatch(this::holds);
        operator.outputs().forEach(this::write);
        operator.temporaries().forEach(this::write);
        running.add(operator);
        return intact;
    }

    private boolean end(Operator operator) {
        ended.add(operator.index());
        return operator.inputs().stream()
                        .filter(input -> operator.outputs().stream().noneMatch(o -> same(input, o)))
                        .allMatch(this::holds)
                && operator.outputs().stream().allMatch(this::holds)
                && operator.temporaries().stream().allMatch(this::holds);
    }

    private boolean same(int input, int output) {
        return isPlanned(input)
                && isPlanned(output)
                && plan.problem().unitOf(input) == plan.problem().unitOf(output);
    }

    private void write(int tensor) {
        if (isPlanned(tensor)) {
            Arrays.fill(memory, from(tensor), to(tensor), content[tensor]);
        }
    }

    private boolean holds(int tensor) {
        return !isPlanned(tensor)
                || Arrays.stream(memory, from(tensor), to(tensor))
                        .allMatch(found -> found == content[tensor]);
    }

    private boolean isPlanned(int tensor) {
        return records.containsKey(tensor);
    }

    private int from(int tensor) {
        return (int) (plan.offsetOf(tensor) / 64);
    }

    private int to(int tensor) {
        return from(tensor) + (int) (records.get(tensor).bytes() / 64);
    }
}
