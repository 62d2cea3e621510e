package org.djlplan.memplan.internal.candidates;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** Generates inputs of a model: random ones of several kinds, and zeros. */
final class RandomValues {

    /** Identifiers, for example of words, are usually small; larger ones might not exist. */
    private static final int INDEX_LIMIT = 10;

    private static final int SPOTS = 6;

    private static final int MOST_BYTE = 255;

    /** By how much a zero changes: the unit in the last place of numbers just below 1. */
    private static final float UNIT = 0x1p-24f;

    private RandomValues() {}

    /**
     * Returns inputs of each kind that outputs are compared for: noise, soft images, zeros, noise
     * with negative numbers, and noise between 0 and 255, in case an application does not scale its
     * images. A model of 8 bits gets noise and images alone: its numbers are scaled for the usual
     * inputs, and others saturate.
     *
     * @param atShapes the model at each of the shapes that inputs have in turn
     * @param ofEightBits whether the model computes with 8 bits
     */
    static List<List<ByteBuffer>> kinds(List<Graph> atShapes, boolean ofEightBits) {
        List<Function<Graph, List<ByteBuffer>>> kinds =
                ofEightBits
                        ? List.of(
                                graph -> of(graph, 0),
                                graph -> smooth(graph, 1),
                                graph -> of(graph, 2),
                                graph -> smooth(graph, 3),
                                graph -> of(graph, 4))
                        : List.of(
                                graph -> of(graph, 0),
                                graph -> smooth(graph, 1),
                                RandomValues::zeros,
                                graph -> of(graph, 3, -1, 1),
                                graph -> of(graph, 4, 0, MOST_BYTE));
        ImmutableList.Builder<List<ByteBuffer>> inputs = ImmutableList.builder();
        for (int i = 0; i < kinds.size(); i++) {
            inputs.add(kinds.get(i).apply(atShapes.get(i % atShapes.size())));
        }
        return inputs.build();
    }

    private static List<ByteBuffer> zeros(Graph graph) {
        return graph.inputs().stream()
                .map(id -> ByteBuffer.allocate(Math.toIntExact(graph.tensors().get(id).bytes())))
                .collect(ImmutableList.toImmutableList());
    }

    /**
     * Returns a value for each input: floats in [0, 1), 8- and 16-bit integers over their whole
     * range, wider integers in [0, 10), zeros for other types.
     */
    static List<ByteBuffer> of(Graph graph, long seed) {
        return of(graph, seed, 0, 1);
    }

    /** Returns the same with floats in [least, most). */
    private static List<ByteBuffer> of(Graph graph, long seed, float least, float most) {
        Random random = new Random(seed);
        return graph.inputs().stream()
                .map(id -> value(graph.tensors().get(id), random, least, most))
                .collect(ImmutableList.toImmutableList());
    }

    /**
     * Returns a value for each input: for float images (height, width and channels after a batch of
     * one) soft spots in [0, 1), which resemble photographs more than noise does; others as in
     * {@link #of}.
     */
    static List<ByteBuffer> smooth(Graph graph, long seed) {
        Random random = new Random(seed);
        return graph.inputs().stream()
                .map(id -> graph.tensors().get(id))
                .map(
                        tensor ->
                                isImage(tensor)
                                        ? spots(tensor, random)
                                        : value(tensor, random, 0, 1))
                .collect(ImmutableList.toImmutableList());
    }

    private static boolean isImage(Tensor tensor) {
        List<Integer> shape = tensor.shape();
        return tensor.type() == ElementType.FLOAT32
                && shape.size() == 4
                && shape.get(0) == 1
                && tensor.bytes() == 4L * shape.get(1) * shape.get(2) * shape.get(3);
    }

    /** Interpolates linearly between {@value #SPOTS} random values in each direction. */
    private static ByteBuffer spots(Tensor tensor, Random random) {
        int height = tensor.shape().get(1);
        int width = tensor.shape().get(2);
        int channels = tensor.shape().get(3);
        float[][][] grid = new float[SPOTS + 1][SPOTS + 1][channels];
        for (float[][] row : grid) {
            for (float[] spot : row) {
                for (int channel = 0; channel < channels; channel++) {
                    spot[channel] = random.nextFloat();
                }
            }
        }
        ByteBuffer values =
                ByteBuffer.allocate(Math.toIntExact(tensor.bytes())).order(ByteOrder.nativeOrder());
        for (int y = 0; y < height; y++) {
            float down = (float) y * SPOTS / height;
            for (int x = 0; x < width; x++) {
                float right = (float) x * SPOTS / width;
                float[][] above = grid[(int) down];
                float[][] below = grid[(int) down + 1];
                int left = (int) right;
                for (int channel = 0; channel < channels; channel++) {
                    float top = between(above[left][channel], above[left + 1][channel], right);
                    float bottom = between(below[left][channel], below[left + 1][channel], right);
                    values.putFloat(between(top, bottom, down));
                }
            }
        }
        return values.rewind();
    }

    private static float between(float first, float second, float place) {
        float part = place - (int) place;
        return first * (1 - part) + second * part;
    }

    /**
     * Returns whether inputs of a type are changed. An integer's step is as small as a rounding
     * error if outputs are quantized, too, but is much more than that for a floating-point output.
     *
     * @param inSteps whether steps are requested anyway
     */
    static boolean moves(Graph graph, ElementType type, boolean inSteps) {
        return switch (type) {
            case FLOAT32, FLOAT64 -> true;
            case INT8, UINT8, INT16, UINT16 ->
                    inSteps
                            || graph.outputs().stream()
                                    .map(id -> graph.tensors().get(id).type())
                                    .noneMatch(RandomValues::isFloatingPoint);
            default -> false;
        };
    }

    private static boolean isFloatingPoint(ElementType type) {
        return switch (type) {
            case FLOAT16, FLOAT32, FLOAT64 -> true;
            default -> false;
        };
    }

    /**
     * Returns the values with each floating-point number changed by one unit in its last place (0
     * like a number just below 1), and each 8- or 16-bit integer by one step, if {@link #moves}
     * allows.
     *
     * @param inSteps whether floats are changed as in {@link #movedByHalfAStep}
     */
    static List<ByteBuffer> moved(
            Graph graph, List<ByteBuffer> values, boolean inSteps, Random random) {
        ImmutableList.Builder<ByteBuffer> moved = ImmutableList.builder();
        for (int i = 0; i < values.size(); i++) {
            ElementType type = graph.tensors().get(graph.inputs().get(i)).type();
            ByteBuffer from = values.get(i).duplicate().rewind().order(ByteOrder.nativeOrder());
            ByteBuffer to = ByteBuffer.allocate(from.remaining()).order(ByteOrder.nativeOrder());
            if (inSteps && type == ElementType.FLOAT32) {
                moved.add(movedByHalfAStep(from, random));
                continue;
            }
            boolean moves = moves(graph, type, inSteps);
            while (moves && from.remaining() >= type.bytes()) {
                move(from, to, type, random.nextBoolean());
            }
            moved.add(to.put(from).rewind());
        }
        return moved.build();
    }

    /**
     * Returns floats changed at random by up to half an 8-bit step (1/127 of the largest), like a
     * kernel that quantizes them.
     */
    static ByteBuffer movedByHalfAStep(ByteBuffer values, Random random) {
        ByteBuffer from = values.duplicate().rewind().order(ByteOrder.nativeOrder());
        float largest = 0;
        while (from.hasRemaining()) {
            largest = Math.max(largest, Math.abs(from.getFloat()));
        }
        float step = largest / Byte.MAX_VALUE;
        ByteBuffer to = ByteBuffer.allocate(from.rewind().limit()).order(ByteOrder.nativeOrder());
        while (from.hasRemaining()) {
            to.putFloat(from.getFloat() + step * (random.nextFloat() - .5f));
        }
        return to.rewind();
    }

    private static void move(ByteBuffer from, ByteBuffer to, ElementType type, boolean up) {
        switch (type) {
            case FLOAT32 -> {
                float x = from.getFloat();
                float unit = x == 0 ? UNIT : 0;
                to.putFloat(up ? Math.nextUp(x + unit) : Math.nextDown(x - unit));
            }
            case FLOAT64 -> {
                double x = from.getDouble();
                double unit = x == 0 ? UNIT : 0;
                to.putDouble(up ? Math.nextUp(x + unit) : Math.nextDown(x - unit));
            }
            case INT8 -> to.put((byte) step(from.get(), Byte.MIN_VALUE, Byte.MAX_VALUE, up));
            case UINT8 -> to.put((byte) step(Byte.toUnsignedInt(from.get()), 0, MOST_BYTE, up));
            case INT16 ->
                    to.putShort(
                            (short) step(from.getShort(), Short.MIN_VALUE, Short.MAX_VALUE, up));
            case UINT16 ->
                    to.putShort(
                            (short)
                                    step(
                                            Short.toUnsignedInt(from.getShort()),
                                            0,
                                            Character.MAX_VALUE,
                                            up));
            default -> throw new IllegalArgumentException(type.toString());
        }
    }

    /** Returns the next integer, or the previous one at the end of the range. */
    private static int step(int x, int least, int most, boolean up) {
        return (up && x < most) || x == least ? x + 1 : x - 1;
    }

    private static ByteBuffer value(Tensor tensor, Random random, float least, float most) {
        ByteBuffer values =
                ByteBuffer.allocate(Math.toIntExact(tensor.bytes())).order(ByteOrder.nativeOrder());
        int bytes = Math.max(1, tensor.type().bytes());
        while (values.remaining() >= bytes) {
            put(values, tensor.type(), random, least, most);
        }
        return values.rewind();
    }

    private static void put(
            ByteBuffer values, ElementType type, Random random, float least, float most) {
        switch (type) {
            case FLOAT32 -> values.putFloat(least + (most - least) * random.nextFloat());
            case FLOAT64 -> values.putDouble(least + (most - least) * random.nextDouble());
            case INT8, UINT8 -> values.put((byte) random.nextInt());
            case INT16, UINT16 -> values.putShort((short) random.nextInt());
            case INT32, UINT32 -> values.putInt(random.nextInt(INDEX_LIMIT));
            case INT64, UINT64 -> values.putLong(random.nextInt(INDEX_LIMIT));
            case BOOL -> values.put((byte) random.nextInt(2));
            default -> values.put(new byte[Math.max(1, type.bytes())]);
        }
    }
}
