package org.djlplan.memplan.internal.usage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.statistics.Statistics;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.plan.Greedy;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.testing.GraphSketch;

/**
 * Runs random graphs on a simulated machine, once with every tensor in its own memory and once in
 * an arena planned with alias classes. The results must be equal. Operators process elements in
 * order and write each at once, so that a wrongly shared place shows.
 */
class AliasSimulationTest {

    private static final Integer[][] SHAPES = {{2, 3}, {3, 2}, {6}, {1, 6}, {6, 1}, {2, 1}, {1}};
    private static final List<String> UNARY = List.of("RELU", "TANH", "PRELU");
    private static final List<String> BINARY = List.of("MAXIMUM", "DIV", "SUB");

    @Property(tries = 2000)
    void aliasClasses_anyGraph_changeNoResult(@ForAll Random random) {
        Graph graph = randomGraph(random);
        PlanningProblem problem =
                new PlanningProblem(UsageRecords.of(graph), AliasAnalysis.aliasClasses(graph));
        Statistics.label("shared").collect(!problem.aliasClasses().isEmpty());
        OffsetPlan plan = Greedy.BY_SIZE.plan(problem);
        assertArrayEquals(run(graph, Map.of()), run(graph, elementPlaces(plan)));
    }

    /** Returns the offsets of the planned tensors, counted in floats. */
    private static Map<Integer, Integer> elementPlaces(OffsetPlan plan) {
        Map<Integer, Integer> places = new HashMap<>();
        for (UsageRecord record : plan.problem().records()) {
            places.put(record.tensor(), (int) (plan.offsetOf(record.tensor()) / 4));
        }
        return places;
    }

    private static Graph randomGraph(Random random) {
        GraphSketch sketch = new GraphSketch();
        List<Integer> ready = new ArrayList<>();
        List<Integer[]> shapes = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            ready.add(sketch.input(SHAPES[0]));
            shapes.add(SHAPES[0]);
        }
        for (int i = 0; i < 12; i++) {
            int x = recent(random, ready);
            int y = recent(random, ready);
            int kind = random.nextInt(4);
            Integer[] shape = shapes.get(x);
            String type = "CONV_2D";
            if (kind == 0) {
                type = UNARY.get(random.nextInt(UNARY.size()));
            } else if (kind == 1 && broadcast(shapes.get(x), shapes.get(y)).length > 0) {
                type = BINARY.get(random.nextInt(BINARY.size()));
                shape = broadcast(shapes.get(x), shapes.get(y));
            } else if (kind == 2 && elements(shape) == 6) {
                type = "RESHAPE";
                shape = SHAPES[random.nextInt(5)];
            } else if (kind == 3) {
                shape = SHAPES[random.nextInt(SHAPES.length)];
            }
            int output = sketch.tensor(shape);
            Integer[] reads =
                    BINARY.contains(type) || type.equals("CONV_2D")
                            ? new Integer[] {x, y}
                            : new Integer[] {x};
            sketch.operator(type, output, reads);
            ready.add(output);
            shapes.add(shape);
        }
        sketch.output(ready.get(ready.size() - 1)).output(ready.get(ready.size() - 2));
        return sketch.build();
    }

    private static int recent(Random random, List<Integer> ready) {
        return ready.get(Math.max(0, ready.size() - 1 - random.nextInt(4)));
    }

    private static int elements(Integer[] shape) {
        return Arrays.stream(shape).reduce(1, (a, b) -> a * b);
    }

    /** Returns the shape of a broadcast result of up to 36 elements, perhaps without dimensions. */
    private static Integer[] broadcast(Integer[] a, Integer[] b) {
        int rank = Math.max(a.length, b.length);
        Integer[] result = new Integer[rank];
        for (int i = 1; i <= rank; i++) {
            int p = i <= a.length ? a[a.length - i] : 1;
            int q = i <= b.length ? b[b.length - i] : 1;
            if (p != q && p != 1 && q != 1) {
                return new Integer[0];
            }
            result[rank - i] = Math.max(p, q);
        }
        return result;
    }

    /** Returns the values of the graph's outputs at the end. */
    private static float[] run(Graph graph, Map<Integer, Integer> places) {
        float[] memory = new float[10_000];
        Map<Integer, Integer> at = new HashMap<>(places);
        for (Tensor tensor : graph.tensors()) {
            at.putIfAbsent(tensor.id(), 5_000 + 64 * tensor.id());
        }
        for (int input : graph.inputs()) {
            for (int i = 0; i < 6; i++) {
                memory[at.get(input) + i] = 1 + input * 10 + i;
            }
        }
        for (Operator operator : graph.operators()) {
            execute(graph, operator, memory, at);
        }
        float[] results = new float[0];
        for (int output : graph.outputs()) {
            int from = at.get(output);
            int count = graph.tensors().get(output).shape().stream().reduce(1, (a, b) -> a * b);
            float[] more = Arrays.copyOf(results, results.length + count);
            System.arraycopy(memory, from, more, results.length, count);
            results = more;
        }
        return results;
    }

    private static void execute(
            Graph graph, Operator operator, float[] memory, Map<Integer, Integer> at) {
        Tensor output = graph.tensors().get(operator.outputs().get(0));
        int to = at.get(output.id());
        int count = output.shape().stream().reduce(1, (a, b) -> a * b);
        for (int i = 0; i < count; i++) {
            float value = operator.index() % 3;
            for (int id : operator.inputs()) {
                Tensor input = graph.tensors().get(id);
                int from = at.get(id);
                switch (operator.type()) {
                    case "RESHAPE" -> value = memory[from + i];
                    case "CONV_2D" -> {
                        int size = input.shape().stream().reduce(1, (a, b) -> a * b);
                        for (int j = 0; j < size; j++) {
                            value += memory[from + j] * ((i + j) % 5);
                        }
                        value %= 1009;
                    }
                    default -> value = (value * 3 + memory[from + index(input, output, i)]) % 1009;
                }
            }
            memory[to + i] = value;
        }
    }

    /** Returns which element of a broadcast operand belongs to element {@code i} of the result. */
    private static int index(Tensor operand, Tensor result, int i) {
        int index = 0;
        int stride = 1;
        int rest = i;
        for (int k = 1; k <= result.shape().size(); k++) {
            int size = result.shape().get(result.shape().size() - k);
            int own =
                    k <= operand.shape().size()
                            ? operand.shape().get(operand.shape().size() - k)
                            : 1;
            index += own == 1 ? 0 : rest % size * stride;
            stride *= own;
            rest /= size;
        }
        return index;
    }
}
