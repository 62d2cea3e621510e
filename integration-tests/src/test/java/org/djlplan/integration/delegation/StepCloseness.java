package org.djlplan.integration.delegation;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.runtime.tflite.OutputTensor;
import org.djlplan.memplan.serving.ServedModel;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.OutputError.Deviation;

/**
 * How many steps the outputs of a delegate are from those of a model's CPU kernels, and by how many
 * these move when every input moves by one step; for models whose inputs and outputs have 8 bits
 * with a sign. Calculated here, from the stock engine's outputs, and not by what is tested.
 */
final class StepCloseness {

    private final List<List<ByteBuffer>> inputs;
    private final List<List<ByteBuffer>> expected = new ArrayList<>();
    private final List<List<Integer>> shapes;
    private final List<Deviation> noise;

    private StepCloseness(StockInterpreter stock, List<List<ByteBuffer>> inputs, int noiseRuns) {
        this.inputs = inputs;
        shapes = stock.shapes();
        inputs.forEach(values -> expected.add(stock.run(values)));
        List<List<ByteBuffer>> moved = new ArrayList<>();
        List<List<ByteBuffer>> unmoved = new ArrayList<>();
        Random random = new Random(1);
        for (int i = 0; i < noiseRuns; i++) {
            int input = i % inputs.size();
            moved.add(stock.run(moved(inputs.get(input), random)));
            unmoved.add(expected.get(input));
        }
        noise = deviations(moved, unmoved);
    }

    /**
     * Runs the CPU kernels on random bytes, and on those moved by one step.
     *
     * @param seed of the first of these inputs
     */
    static StepCloseness measure(StockInterpreter stock, int count, long seed, int noiseRuns) {
        List<List<ByteBuffer>> inputs = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            inputs.add(stock.randomInputs(seed + i));
        }
        return new StepCloseness(stock, inputs, noiseRuns);
    }

    private static List<ByteBuffer> moved(List<ByteBuffer> values, Random random) {
        List<ByteBuffer> moved = new ArrayList<>();
        for (ByteBuffer from : values) {
            ByteBuffer to = ByteBuffer.allocateDirect(from.capacity());
            for (int i = 0; i < from.capacity(); i++) {
                int step = from.get(i) + (random.nextBoolean() ? 1 : -1);
                to.put((byte) (Math.abs(step) > Byte.MAX_VALUE ? from.get(i) - step : step));
            }
            moved.add(to.rewind());
        }
        return moved;
    }

    /** Returns what a model computes of the inputs. */
    List<List<ByteBuffer>> outputs(ServedModel runtime) {
        return inputs.stream()
                .map(
                        values ->
                                runtime.run(values, shapes).stream()
                                        .map(OutputTensor::data)
                                        .toList())
                .toList();
    }

    /** Returns how far each output is from the CPU kernels', with their noise. */
    List<OutputError> errors(List<List<ByteBuffer>> outputs) {
        List<Deviation> deviations = deviations(outputs, expected);
        List<OutputError> errors = new ArrayList<>();
        for (int i = 0; i < deviations.size(); i++) {
            errors.add(new OutputError(ElementType.INT8, deviations.get(i), noise.get(i), 1));
        }
        return errors;
    }

    /** Returns by how many steps outputs differ at most. */
    static double steps(List<List<ByteBuffer>> some, List<List<ByteBuffer>> others) {
        return deviations(some, others).stream().mapToDouble(Deviation::largest).max().orElse(0);
    }

    private static List<Deviation> deviations(
            List<List<ByteBuffer>> some, List<List<ByteBuffer>> others) {
        List<Deviation> worst = new ArrayList<>();
        for (int output = 0; output < others.get(0).size(); output++) {
            Deviation deviation = Deviation.NONE;
            for (int i = 0; i < others.size(); i++) {
                deviation =
                        deviation.and(
                                deviation(some.get(i).get(output), others.get(i).get(output)));
            }
            worst.add(deviation);
        }
        return worst;
    }

    /** Another class counts only if it has fewer than all but one step of the best one. */
    private static Deviation deviation(ByteBuffer actual, ByteBuffer reference) {
        int largest = 0;
        int far = 0;
        int count = reference.capacity();
        int best = 0;
        int own = 0;
        for (int i = 0; i < count; i++) {
            int steps = Math.abs(actual.get(i) - reference.get(i));
            largest = Math.max(largest, steps);
            far += steps > 1 ? 1 : 0;
            best = reference.get(i) > reference.get(best) ? i : best;
            own = actual.get(i) > actual.get(own) ? i : own;
        }
        int lost = reference.get(best) - reference.get(own);
        return new Deviation(largest, (double) far / count, lost > 1 ? 1 : 0);
    }
}
