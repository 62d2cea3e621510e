package org.djlplan.integration.current;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.djlplan.integration.support.BareInterpreter;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.integration.support.Planned;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.source.tflite.FlatTable;

/** A model whose file has placeholder shapes, and the shapes of its inputs for a given length. */
@SuppressWarnings("ImmutableEnumChecker") // The functions have no state.
enum PlaceholderModel {
    WINDOW(
            n -> List.of(List.of(1, n, n + 2, 3)),
            model -> output(model, window(model, "CONV_2D", open(model, 1, -1, -1, 3), 3, 4))),
    BATCH_AND_WINDOW(
            n -> List.of(List.of(n, n + 1, 7, 3)),
            model -> output(model, window(model, "CONV_2D", open(model, -1, -1, -1, 3), 3, 4))),
    DEPTHWISE(
            n -> List.of(List.of(1, n, n, 2)),
            model -> {
                int x = open(model, 1, -1, -1, 2);
                output(model, window(model, "DEPTHWISE_CONV_2D", x, 2, 2));
            }),
    POOL(
            n -> List.of(List.of(1, n + 1, n, 2)),
            model -> {
                int x = open(model, 1, -1, -1, 2);
                FlatTable options =
                        strides("Pool2DOptions").with("filter_width", 2).with("filter_height", 2);
                output(model, floats(model, "MAX_POOL_2D", options, List.of(1, 1, 1, 2), x));
            }),
    ROWS(n -> List.of(List.of(1, 4 * n)), model -> output(model, rows(model, open(model, 1, -1)))),
    ROWS_OF_A_BATCH(
            n -> List.of(List.of(n, 8)), model -> output(model, rows(model, open(model, -1, -1)))),
    SUM_OF_TWO(
            n -> List.of(List.of(1, 4 * n), List.of(n, 4)),
            model -> {
                int x = rows(model, open(model, 1, -1));
                int y = rows(model, open(model, -1, -1));
                FlatTable options = FlatTable.of("AddOptions");
                output(model, floats(model, "ADD", options, List.of(1, 4), x, y));
            }),
    TWO_LENGTHS(
            n -> List.of(List.of(1, 4 * n), List.of(1, 8 * n)),
            model -> {
                output(model, rows(model, open(model, 1, -1)));
                output(model, rows(model, open(model, 1, -1)));
            }),
    SEQUENCE(
            n -> List.of(List.of(1, 8 * n)),
            model -> {
                int steps = relu(model, reshape(model, open(model, 1, -1), 2, 4));
                FlatTable options = FlatTable.of("ReducerOptions").with("keep_dims", true);
                int axis = model.ints(0);
                model.output(floats(model, "SUM", options, List.of(1, 2, 4), steps, axis));
            }),
    PARTS(
            n -> List.of(List.of(1, 3 * n)),
            model -> {
                int x = relu(model, open(model, 1, -1));
                List<Integer> parts =
                        Stream.generate(() -> model.tensor(ElementType.FLOAT32, 1, 1))
                                .limit(3)
                                .toList();
                FlatTable options = FlatTable.of("SplitOptions").with("num_splits", 3);
                model.operator("SPLIT", Optional.of(options), parts, model.ints(1), x);
                model.output(relu(model, parts.get(0)), parts.get(2));
            });

    private static final int VALID = 1;

    private final IntFunction<List<List<Integer>>> shapes;

    private final Consumer<ModelSketch> build;

    PlaceholderModel(IntFunction<List<List<Integer>>> shapes, Consumer<ModelSketch> build) {
        this.shapes = shapes;
        this.build = build;
    }

    private static void output(ModelSketch model, int value) {
        model.output(relu(model, value));
    }

    private static int floats(
            ModelSketch model,
            String type,
            FlatTable options,
            List<Integer> shape,
            int... operands) {
        Form form = new Form(ElementType.FLOAT32, shape, 0, 0);
        return model.operator(type, Optional.of(options), form, operands);
    }

    /** Adds an input whose open dimensions are 1 in the file. */
    static int open(ModelSketch model, Integer... signature) {
        int[] shape = Arrays.stream(signature).mapToInt(d -> d == -1 ? 1 : d).toArray();
        int input = model.input(ElementType.FLOAT32, shape);
        model.leaveOpen(input, signature);
        return input;
    }

    private static FlatTable strides(String options) {
        return FlatTable.of(options).with("padding", VALID).with("stride_w", 1).with("stride_h", 1);
    }

    static int window(ModelSketch model, String type, int input, int channels, int outputs) {
        boolean depthwise = type.startsWith("DEPTHWISE");
        int[] filter =
                depthwise ? new int[] {1, 3, 3, channels} : new int[] {outputs, 3, 3, channels};
        int elements = Arrays.stream(filter).reduce(1, (a, b) -> a * b);
        Random random = new Random(elements);
        float[] weights = new float[elements];
        IntStream.range(0, elements).forEach(i -> weights[i] = random.nextFloat() - .5f);
        FlatTable options =
                depthwise
                        ? strides("DepthwiseConv2DOptions").with("depth_multiplier", 1)
                        : strides("Conv2DOptions");
        return floats(
                model,
                type,
                options,
                List.of(1, 1, 1, outputs),
                input,
                model.floats(filter, weights),
                model.floats(new int[] {outputs}, new float[outputs]));
    }

    static int rows(ModelSketch model, int input) {
        return reshape(model, input, 4);
    }

    /** Reshapes into rows of a number of elements; in the file there is one row. */
    private static int reshape(ModelSketch model, int input, Integer... each) {
        List<Integer> wanted = new ArrayList<>(List.of(-1));
        wanted.addAll(List.of(each));
        List<Integer> inFile = new ArrayList<>(wanted);
        inFile.set(0, 1);
        FlatTable options = FlatTable.of("ReshapeOptions").with("new_shape", wanted);
        return floats(model, "RESHAPE", options, inFile, input);
    }

    static int relu(ModelSketch model, int input) {
        return model.floatOperator("RELU", new int[] {1, 1}, input);
    }

    /** Returns shapes of the inputs that the model can take. */
    List<List<Integer>> shapes(int length) {
        return shapes.apply(length);
    }

    /** Writes the model into a folder. */
    Path write(Path folder) throws IOException {
        ModelSketch model = new ModelSketch();
        build.accept(model);
        return model.write(folder.resolve(this + ".tflite"));
    }

    /** Returns random values of inputs. */
    static List<ByteBuffer> values(List<List<Integer>> shapes) {
        List<ByteBuffer> values = new ArrayList<>();
        for (List<Integer> shape : shapes) {
            int elements = shape.stream().reduce(1, (a, b) -> a * b);
            ByteBuffer value =
                    ByteBuffer.allocateDirect(4 * elements).order(ByteOrder.nativeOrder());
            Random random = new Random(elements);
            IntStream.range(0, elements).forEach(i -> value.putFloat(random.nextFloat() - .5f));
            values.add(value.rewind());
        }
        return values;
    }

    /** Returns the outputs of an engine that was resized before its first allocation. */
    static List<ByteBuffer> expected(Path file, List<List<Integer>> shapes) {
        BareInterpreter engine =
                BareInterpreter.resized(
                        file,
                        1,
                        shapes.stream()
                                .map(s -> s.stream().mapToInt(Integer::intValue).toArray())
                                .toList());
        engine.setInputs(values(shapes));
        engine.run();
        return engine.outputs().stream().map(Planned::copy).toList();
    }
}
