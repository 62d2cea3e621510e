package org.djlplan.integration.tflite.hostile;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.PlainModel;
import org.djlplan.memplan.internal.runtime.tflite.TensorInfo;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.internal.usage.InPlace;

/**
 * Predicts with inputs of shapes other than the file's, planned and plain. Prints each shape before
 * its prediction, and the result afterwards, so that the output shows which model and shape caused
 * a signal.
 */
public final class ResizedProgram {

    /** Larger inputs take long and find no more faults. */
    private static final int MOST_ELEMENTS = 100_000;

    /** The number of each model's shapes, at least, even on a busy machine. */
    private static final int LEAST_SHAPES = 8;

    private static final int LARGEST_SIDE = 40;
    private static final int[] SIZES = {0, 1, 2, 3, 4, 5, 7, 8, 11, 12, 13, 16, 17, 24, 25, 33};

    private ResizedProgram() {}

    /**
     * Resizes the inputs of models at random.
     *
     * @param arguments the seed, the nanoseconds for all models together, and files
     */
    public static void main(String[] arguments) throws Exception {
        StockInterpreter.loadEngine();
        long seed = Long.parseLong(arguments[0]);
        List<String> files = Arrays.asList(arguments).subList(2, arguments.length);
        long each = Long.parseLong(arguments[1]) / files.size();
        int cases = 0;
        for (String file : files) {
            Random random = new Random(seed ^ file.hashCode());
            cases += resize(Path.of(file), random, System.nanoTime() + each);
        }
        System.out.println("done " + cases);
    }

    private static int resize(Path file, Random random, long end) throws Exception {
        int cases = 0;
        // Kernels divide work differently on two threads.
        int threads = 1 + random.nextInt(2);
        try (PlainModel plain = PlainModel.open(file, threads);
                ServedModel planned = Served.alone(file, InPlace.AUTO, threads)) {
            List<Integer> sides = new ArrayList<>();
            for (int side = 1; side <= LARGEST_SIDE; side++) {
                sides.add(side);
            }
            while (System.nanoTime() < end || cases < LEAST_SHAPES) {
                // Half of the shapes are square, with each side once, beginning with a random side;
                // half have any sides.
                List<List<Integer>> shapes =
                        cases % 2 == 0 && !sides.isEmpty()
                                ? square(plain, sides.remove(random.nextInt(sides.size())))
                                : any(plain, random);
                if (shapes.stream().allMatch(ResizedProgram::isSmall)) {
                    System.out.println("begin " + file.getFileName() + " " + shapes);
                    System.out.println("end " + compare(plain, planned, shapes, random));
                }
                cases++;
            }
        }
        return cases;
    }

    private static boolean isSmall(List<Integer> shape) {
        return shape.stream().mapToLong(Integer::longValue).reduce(1, (a, b) -> a * b)
                <= MOST_ELEMENTS;
    }

    private static List<List<Integer>> square(PlainModel model, int side) {
        List<List<Integer>> shapes = new ArrayList<>();
        for (TensorInfo input : model.inputs()) {
            List<Integer> shape = new ArrayList<>(input.shape());
            for (int i = 1; i < shape.size() - 1; i++) {
                shape.set(i, side);
            }
            shapes.add(shape);
        }
        return shapes;
    }

    private static List<List<Integer>> any(PlainModel model, Random random) {
        List<List<Integer>> shapes = new ArrayList<>();
        for (TensorInfo input : model.inputs()) {
            List<Integer> shape = new ArrayList<>(input.shape());
            for (int i = 0; i < shape.size(); i++) {
                // In nearly all models, constants fix the last dimension, the channels.
                if (random.nextInt(i == shape.size() - 1 ? 8 : 2) == 0) {
                    shape.set(i, SIZES[random.nextInt(SIZES.length)]);
                }
            }
            if (random.nextInt(16) == 0 && !shape.isEmpty()) {
                shape.remove(0);
            }
            shapes.add(shape);
        }
        return shapes;
    }

    private static String compare(
            PlainModel plain, ServedModel planned, List<List<Integer>> shapes, Random random) {
        List<ByteBuffer> values = new ArrayList<>();
        for (int i = 0; i < shapes.size(); i++) {
            values.add(value(plain.inputs().get(i).type(), shapes.get(i), random));
        }
        Outcome expected = outcome(() -> plain.run(values, shapes));
        Outcome actual = outcome(() -> planned.run(values, shapes));
        if (expected.failed() && actual.failed()) {
            return "refused: " + actual.failure();
        }
        boolean same = expected.outputs().equals(actual.outputs());
        return same ? "same" : "DIFFERENT: " + expected + " and " + actual;
    }

    private static ByteBuffer value(ElementType type, List<Integer> shape, Random random) {
        int bytes = shape.stream().reduce(type.bytes(), (a, b) -> a * b);
        ByteBuffer value = ByteBuffer.allocate(bytes).order(ByteOrder.nativeOrder());
        while (type == ElementType.FLOAT32 && value.hasRemaining()) {
            value.putFloat(random.nextFloat());
        }
        while (value.hasRemaining()) {
            value.put((byte) random.nextInt(type == ElementType.INT32 ? 1 : 256));
        }
        return value.rewind();
    }

    private record Outcome(List<ByteBuffer> outputs, String failure) {
        boolean failed() {
            return !failure.isEmpty();
        }
    }

    private interface Prediction {
        List<OutputTensor> run();
    }

    private static Outcome outcome(Prediction prediction) {
        try {
            return new Outcome(prediction.run().stream().map(OutputTensor::data).toList(), "");
        } catch (IllegalArgumentException | IllegalStateException e) {
            return new Outcome(List.of(), e.getClass().getSimpleName() + ": " + e.getMessage());
        }
    }
}
