package org.djlplan.integration.delegation;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.OutputError.Deviation;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/**
 * For models of 32-bit floats, measures how far a delegate's outputs are from the CPU kernels', and
 * how far the CPU kernels' outputs move if the last bit of every input changes. This class takes
 * the CPU kernels' outputs from the stock engine, and shares no code with the tested classes.
 */
final class Closeness {

    private static final ImmutableSet<String> MOVING = ImmutableSet.of("RESHAPE", "SQUEEZE");
    private static final ImmutableSet<String> BOUNDED = ImmutableSet.of("LOGISTIC", "SOFTMAX");

    private final List<List<ByteBuffer>> inputs;
    private final List<List<ByteBuffer>> expected = new ArrayList<>();
    private final List<List<Integer>> shapes;
    private final Deviation[] noise;
    private final double[] headroom;

    private Closeness(Graph graph, StockInterpreter stock, List<List<ByteBuffer>> inputs) {
        this.inputs = inputs;
        shapes = stock.shapes();
        inputs.forEach(values -> expected.add(stock.run(values)));
        noise = none();
        headroom = new double[noise.length];
        for (int i = 0; i < headroom.length; i++) {
            int output = i;
            double largest =
                    expected.stream().mapToDouble(o -> largest(o.get(output))).max().orElse(1);
            boolean bounded = isBounded(graph, graph.outputs().get(i)) && largest > 0;
            headroom[i] = bounded ? Math.max(1, 1 / largest) : 1;
        }
    }

    /**
     * Runs the CPU kernels on inputs, and on the same inputs moved by one unit in the last place.
     */
    static Closeness measure(
            Graph graph, StockInterpreter stock, List<List<ByteBuffer>> inputs, int noiseRuns) {
        Closeness closeness = new Closeness(graph, stock, inputs);
        Random random = new Random(1);
        for (int i = 0; i < noiseRuns; i++) {
            int input = i % inputs.size();
            closeness.add(closeness.noise, stock.run(moved(inputs.get(input), random)), input);
        }
        return closeness;
    }

    /** Returns inputs that alternate between noise and large smooth waves. */
    static List<List<ByteBuffer>> inputs(StockInterpreter stock, int count, long seed) {
        List<List<ByteBuffer>> inputs = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            List<ByteBuffer> uniform = stock.randomInputs(seed + i);
            inputs.add(i % 2 == 0 ? uniform : smooth(uniform, stock.shapes(), seed + i));
        }
        return inputs;
    }

    private static List<ByteBuffer> smooth(
            List<ByteBuffer> like, List<List<Integer>> shapes, long seed) {
        Random random = new Random(seed);
        List<ByteBuffer> images = new ArrayList<>();
        for (int i = 0; i < like.size(); i++) {
            int rank = shapes.get(i).size();
            int channels = shapes.get(i).get(rank - 1);
            int width = rank > 2 ? shapes.get(i).get(rank - 2) : 1;
            FloatBuffer values =
                    like.get(i).duplicate().order(ByteOrder.nativeOrder()).asFloatBuffer();
            double[] phase = random.doubles(4L * channels).toArray();
            int height = values.capacity() / channels / width;
            for (int k = 0; k < values.capacity(); k++) {
                int wave = 4 * (k % channels);
                int place = k / channels;
                int row = place / width;
                double x = (double) (place % width) / width;
                double y = (double) row / height;
                double across = Math.cos(2 * Math.PI * (x * (1 + phase[wave]) + phase[wave + 1]));
                double down = Math.cos(2 * Math.PI * (y * (1 + phase[wave + 2]) + phase[wave + 3]));
                values.put(k, (float) (.5 + .25 * across + .25 * down));
            }
            images.add(like.get(i));
        }
        return images;
    }

    private static List<ByteBuffer> moved(List<ByteBuffer> values, Random random) {
        List<ByteBuffer> moved = new ArrayList<>();
        for (ByteBuffer from : values) {
            FloatBuffer floats = floats(from);
            ByteBuffer to =
                    ByteBuffer.allocateDirect(from.capacity()).order(ByteOrder.nativeOrder());
            while (floats.hasRemaining()) {
                float x = floats.get();
                to.putFloat(random.nextBoolean() ? Math.nextUp(x) : Math.nextDown(x));
            }
            moved.add(to.rewind());
        }
        return moved;
    }

    /** Returns a model whose delegate runs all operators that it takes, on one thread. */
    static ServedModel open(Path file, String delegate) throws Exception {
        DelegationChoice all =
                new DelegationChoice(
                        new Candidate(FixedChoice.operators(file, delegate), 1),
                        Origin.MEASURED,
                        "a test");
        return Served.open(file, delegate, all);
    }

    /** Returns a model's outputs for the inputs. */
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
        Deviation[] deviation = none();
        for (int i = 0; i < outputs.size(); i++) {
            add(deviation, outputs.get(i), i);
        }
        List<OutputError> errors = new ArrayList<>();
        for (int i = 0; i < deviation.length; i++) {
            errors.add(new OutputError(ElementType.FLOAT32, deviation[i], noise[i], headroom[i]));
        }
        return errors;
    }

    /** Returns whether outputs would be accepted. */
    static boolean accepted(List<OutputError> errors) {
        return errors.stream().allMatch(Tolerance.AUTO::admits);
    }

    /** Returns the largest error divided by the accepted limit. */
    static double inUnits(List<OutputError> errors) {
        return errors.stream()
                .mapToDouble(e -> e.difference() / Math.max(2e-3, 8 * e.noise().largest()))
                .max()
                .orElse(0);
    }

    /**
     * Returns whether an output moved by more than 1e-4 and by more than its noise. A smaller move
     * cannot be distinguished from a change of the inputs' last bit.
     */
    boolean moved(List<List<ByteBuffer>> before, List<List<ByteBuffer>> after) {
        for (int i = 0; i < before.size(); i++) {
            for (int output = 0; output < noise.length; output++) {
                double difference =
                        deviation(after.get(i).get(output), before.get(i).get(output)).largest();
                if (difference > Math.max(1e-4, noise[output].largest())) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Returns the largest noise of an output. */
    double noise() {
        return Arrays.stream(noise).mapToDouble(Deviation::largest).max().orElse(0);
    }

    private Deviation[] none() {
        Deviation[] none = new Deviation[expected.get(0).size()];
        Arrays.fill(none, Deviation.NONE);
        return none;
    }

    private void add(Deviation[] worst, List<ByteBuffer> outputs, int input) {
        for (int i = 0; i < worst.length; i++) {
            worst[i] = worst[i].and(deviation(outputs.get(i), expected.get(input).get(i)));
        }
    }

    private static FloatBuffer floats(ByteBuffer values) {
        return values.duplicate().rewind().order(ByteOrder.nativeOrder()).asFloatBuffer();
    }

    private static double largest(ByteBuffer values) {
        FloatBuffer floats = floats(values);
        double largest = 0;
        while (floats.hasRemaining()) {
            largest = Math.max(largest, Math.abs(floats.get()));
        }
        return largest;
    }

    /** Returns the deviation of an output of floats from another. */
    static Deviation deviation(ByteBuffer actual, ByteBuffer reference) {
        FloatBuffer given = floats(actual);
        FloatBuffer right = floats(reference);
        double largest = 0;
        double squares = 0;
        double scale = 0;
        double scaleSquares = 0;
        while (right.hasRemaining()) {
            double x = given.get();
            double y = right.get();
            if (!Double.isFinite(x) || !Double.isFinite(y)) {
                return Deviation.INFINITE;
            }
            largest = Math.max(largest, Math.abs(x - y));
            squares += (x - y) * (x - y);
            scale = Math.max(scale, Math.abs(y));
            scaleSquares += y * y;
        }
        return new Deviation(
                largest / (scale == 0 ? 1 : scale),
                Math.sqrt(squares / (scaleSquares == 0 ? 1 : scaleSquares)),
                0);
    }

    private static boolean isBounded(Graph graph, int tensor) {
        for (Operator operator : graph.operators()) {
            if (operator.outputs().contains(tensor)) {
                return BOUNDED.contains(operator.type())
                        || (MOVING.contains(operator.type())
                                && isBounded(graph, operator.inputs().get(0)));
            }
        }
        return false;
    }
}
