package org.djlplan.memplan.internal.budget;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.djlplan.memplan.internal.plan.Greedy;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.internal.usage.UsageRecords;

/**
 * Streaming problems of well-known networks, derived from their layer shapes. Values are 32-bit
 * floats, images have 224 × 224 pixels, and convolutions have an im2col buffer unless they are 1 ×
 * 1 with stride 1. Each operator's weights are one piece. Compute time follows from the number of
 * multiplications, or from the bytes of weights if reading those takes longer.
 */
final class Networks {

    private static final double MULTIPLICATIONS_PER_NANO = 32;
    private static final double WEIGHT_BYTES_PER_NANO = 12;
    private static final long NANOS_PER_STEP = 10_000;
    private static final long NANOS_PER_LOAD = 20_000;
    private static final long PICTURE = 224;

    private final double loadBytesPerNano;
    private long columnBytes = Long.MAX_VALUE;
    private boolean normalized;
    private final List<long[]> records = new ArrayList<>();
    private final List<WeightUse> weights = new ArrayList<>();
    private final List<Long> nanos = new ArrayList<>();

    private Networks(double loadBytesPerNano) {
        this.loadBytesPerNano = loadBytesPerNano;
    }

    /** A tensor: the number of its record, its width and height, and its channels. */
    private record Value(int record, long side, long channels) {

        long elements() {
            return side * side * channels;
        }
    }

    /** ResNet-152 (He et al. 2016): 155 convolutions, 240 MB. */
    static StreamingProblem resNet152(double loadBytesPerNano) {
        return resNet152(loadBytesPerNano, false);
    }

    /**
     * ResNet-152.
     *
     * @param normalized whether batch normalization and rectifier are operators of their own: 520
     *     operators, 311 pieces
     */
    static StreamingProblem resNet152(double loadBytesPerNano, boolean normalized) {
        Networks net = new Networks(loadBytesPerNano);
        net.normalized = normalized;
        Value x = net.input();
        x = net.convolution(x, 64, 7, 2);
        x = net.pooling(x, 2);
        int[] blocks = {3, 8, 36, 3};
        for (int stage = 0; stage < blocks.length; stage++) {
            long channels = 64L << stage;
            for (int block = 0; block < blocks[stage]; block++) {
                int stride = block == 0 && stage > 0 ? 2 : 1;
                Value shortcut = block == 0 ? net.convolution(x, 4 * channels, 1, stride) : x;
                Value y = net.convolution(x, channels, 1, 1);
                y = net.convolution(y, channels, 3, stride);
                y = net.convolution(y, 4 * channels, 1, 1);
                x = net.addition(y, shortcut);
            }
        }
        net.fullyConnected(net.pooling(x, (int) x.side()), 1000, 1);
        return net.problem();
    }

    /**
     * VGG-19 (Simonyan and Zisserman 2015): 575 MB; fully connected layers in slices of their
     * outputs, convolutions in slices of their inputs.
     *
     * @param columnBytes limit for the size of each im2col buffer
     */
    static StreamingProblem vgg19(double loadBytesPerNano, int slices, long columnBytes) {
        Networks net = new Networks(loadBytesPerNano);
        net.columnBytes = columnBytes;
        Value x = net.input();
        int[] convolutions = {2, 2, 4, 4, 4};
        for (int stage = 0; stage < convolutions.length; stage++) {
            for (int i = 0; i < convolutions[stage]; i++) {
                x = net.convolution(x, Math.min(512, 64L << stage), 3, 1);
            }
            x = net.pooling(x, 2);
        }
        x = net.fullyConnected(x, 4096, slices);
        x = net.fullyConnected(x, 4096, slices);
        net.fullyConnected(x, 1000, 1);
        return net.problem();
    }

    /** Returns the size of the weights in bytes. */
    static long weightBytes(StreamingProblem problem) {
        return problem.weights().stream().mapToLong(WeightUse::bytes).sum();
    }

    /** Returns the size in bytes of the whole network if each weight has its own place. */
    static long wholeBytes(StreamingProblem problem) {
        return weightBytes(problem)
                + WeightUse.roundUp(Greedy.BY_SIZE.plan(problem.activations()).totalBytes());
    }

    private Value input() {
        return value(PICTURE, 3, 0);
    }

    private Value value(long side, long channels, int step) {
        records.add(new long[] {step, step, side * side * channels * Float.BYTES});
        return new Value(records.size() - 1, side, channels);
    }

    private int step(long multiplications, long weightBytes, Value... read) {
        int step = nanos.size();
        for (Value value : read) {
            records.get(value.record)[1] = step;
        }
        nanos.add(
                NANOS_PER_STEP
                        + (long)
                                Math.max(
                                        multiplications / MULTIPLICATIONS_PER_NANO,
                                        weightBytes / WEIGHT_BYTES_PER_NANO));
        if (weightBytes > 0) {
            weights.add(new WeightUse(weights.size(), step, step, WeightUse.roundUp(weightBytes)));
        }
        return step;
    }

    private Value convolution(Value input, long channels, int kernel, int stride) {
        long side = (input.side + stride - 1) / stride;
        long column = (long) kernel * kernel * input.channels;
        long bytes = (column + 1) * channels * Float.BYTES;
        long rowBytes = kernel == 1 && stride == 1 ? 0 : side * column * Float.BYTES;
        long slices = Math.min(side, 1 + (side * rowBytes - 1) / columnBytes);
        slices = Math.max(1, slices);
        int first = nanos.size();
        Value output = value(side, channels, first);
        for (int i = 0; i < slices; i++) {
            long rows = (side * (i + 1)) / slices - side * i / slices;
            int step = step(rows * side * column * channels, 0, input, output);
            if (rowBytes > 0) {
                records.add(new long[] {step, step, rows * rowBytes});
            }
        }
        weights.add(
                new WeightUse(weights.size(), first, nanos.size() - 1, WeightUse.roundUp(bytes)));
        if (normalized) {
            int step = step(output.elements(), 4 * channels * Float.BYTES, output);
            output = value(side, channels, step);
            step = step(output.elements(), 0, output);
            output = value(side, channels, step);
        }
        return output;
    }

    private Value pooling(Value input, int stride) {
        int step = step(input.elements(), 0, input);
        return value(input.side / stride, input.channels, step);
    }

    private Value addition(Value a, Value b) {
        int step = step(a.elements(), 0, a, b);
        return value(a.side, a.channels, step);
    }

    private Value fullyConnected(Value input, long outputs, int slices) {
        Value output = value(1, outputs, nanos.size());
        for (int i = 0; i < slices; i++) {
            long rows = outputs / slices;
            step(
                    rows * input.elements(),
                    rows * (input.elements() + 1) * Float.BYTES,
                    input,
                    output);
        }
        return output;
    }

    private StreamingProblem problem() {
        List<UsageRecord> units = new ArrayList<>();
        for (long[] record : records) {
            units.add(
                    new UsageRecord(
                            units.size(),
                            (int) record[0],
                            (int) record[1],
                            UsageRecords.alignedBytes(record[2])));
        }
        weights.sort(Comparator.comparingInt(WeightUse::first));
        return new StreamingProblem(
                new PlanningProblem(units),
                weights,
                new StepCosts(
                        nanos.stream().mapToLong(Long::longValue).toArray(),
                        loadBytesPerNano,
                        NANOS_PER_LOAD));
    }
}
