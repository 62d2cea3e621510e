package org.djlplan.integration.tflite.kernels;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.djlplan.integration.support.Bits;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * A small random model of floats, by seed: element-wise operators, views, convolutions,
 * concatenations and softmax over recent values. Some operators read the model's inputs, some
 * operators read its outputs, and some values have no reader.
 */
final class RandomModel {

    private static final int CHANNELS = 5;
    private static final int REACH = 5;

    /** Shapes of the same 120 elements, whose last dimension is channels. */
    private static final ImmutableList<List<Integer>> SHAPES =
            ImmutableList.of(
                    List.of(1, 4, 6, CHANNELS),
                    List.of(1, 24, 1, CHANNELS),
                    List.of(24, CHANNELS),
                    List.of(4, 6, CHANNELS));

    private static final ImmutableList<String> UNARY =
            ImmutableList.of(
                    "RELU",
                    "RELU6",
                    "LOGISTIC",
                    "TANH",
                    "HARD_SWISH",
                    "ELU",
                    "NEG",
                    "ABS",
                    "SQUARE",
                    "SIN",
                    "FLOOR",
                    "ROUND",
                    "RELU_N1_TO_1");

    private static final ImmutableMap<String, Optional<String>> BINARY =
            ImmutableMap.of(
                    "ADD", Optional.of("AddOptions"),
                    "MUL", Optional.of("MulOptions"),
                    "SUB", Optional.of("SubOptions"),
                    "DIV", Optional.of("DivOptions"),
                    "MAXIMUM", Optional.empty(),
                    "MINIMUM", Optional.empty(),
                    "PRELU", Optional.empty());

    private final Random random;
    private final ModelSketch sketch = new ModelSketch();
    private final List<Form> inputs = new ArrayList<>();
    private final List<Integer> values = new ArrayList<>();
    private final List<Form> forms = new ArrayList<>();

    private RandomModel(long seed) {
        random = new Random(seed);
    }

    /** Returns the model of a seed. */
    static RandomModel of(long seed) {
        RandomModel model = new RandomModel(seed);
        int inputs = 1 + model.random.nextInt(2);
        for (int i = 0; i < inputs; i++) {
            Form form = form(SHAPES.get(model.random.nextInt(SHAPES.size())));
            model.inputs.add(form);
            model.keep(model.sketch.input(form), form);
        }
        int operators = 4 + model.random.nextInt(14);
        for (int i = 0; i < operators; i++) {
            model.addOperator();
        }
        model.chooseOutputs(inputs);
        return model;
    }

    /** Returns the model. */
    ModelSketch sketch() {
        return sketch;
    }

    /** Returns the forms of its inputs. */
    List<Form> inputs() {
        return inputs;
    }

    private static Form form(List<Integer> shape) {
        return Form.of(ElementType.FLOAT32).shaped(shape);
    }

    private void keep(int value, Form form) {
        values.add(value);
        forms.add(form);
    }

    private int recent() {
        return Math.max(0, values.size() - 1 - random.nextInt(REACH));
    }

    private void addOperator() {
        int i = recent();
        int x = values.get(i);
        Form form = forms.get(i);
        switch (random.nextInt(9)) {
            case 0, 1 -> {
                String type = UNARY.get(random.nextInt(UNARY.size()));
                keep(sketch.operator(type, Optional.empty(), form, x), form);
            }
            case 2, 3, 4 -> addBinary(x, form);
            case 5, 6 -> addView(x, form);
            case 7 -> addConvolution(x, form);
            default -> addOther(x, form);
        }
    }

    /**
     * Adds an operator on a value and itself, another value of the same shape, or broadcast
     * constants.
     */
    private void addBinary(int x, Form form) {
        String type = BINARY.keySet().asList().get(random.nextInt(BINARY.size()));
        boolean prelu = type.equals("PRELU");
        int y;
        int other = recent();
        if (forms.get(other).equals(form) && !prelu) {
            y = values.get(other);
        } else {
            // PRELU takes only constants without the batch dimension.
            boolean scalar = !prelu && random.nextInt(3) == 0;
            y = constant(scalar ? List.of() : List.of(CHANNELS));
        }
        boolean swap = !prelu && random.nextBoolean();
        Optional<FlatTable> options =
                BINARY.get(type)
                        .map(
                                table ->
                                        FlatTable.of(table)
                                                .with(
                                                        "fused_activation_function",
                                                        random.nextInt(4)));
        keep(sketch.operator(type, options, form, swap ? y : x, swap ? x : y), form);
    }

    private void addView(int x, Form form) {
        int index = form.shape().indexOf(1);
        if (index >= 0 && random.nextBoolean()) {
            List<Integer> shape = new ArrayList<>(form.shape());
            shape.remove(index);
            FlatTable options = FlatTable.of("SqueezeOptions").with("squeeze_dims", List.of(index));
            Form output = form(shape);
            keep(sketch.operator("SQUEEZE", Optional.of(options), output, x), output);
        } else if (form.shape().size() == 3) {
            List<Integer> shape = new ArrayList<>(form.shape());
            shape.add(0, 1);
            Form output = form(shape);
            int axis = sketch.ints(0);
            keep(sketch.operator("EXPAND_DIMS", Optional.empty(), output, x, axis), output);
        } else {
            Form output = form(SHAPES.get(random.nextInt(SHAPES.size())));
            keep(sketch.reshape(x, output), output);
        }
    }

    /** Adds a convolution: 3 × 3, or 1 × 1 without the temporary for windows. */
    private void addConvolution(int x, Form form) {
        int image = x;
        Form output = form(SHAPES.get(random.nextInt(2)));
        if (!form.equals(output)) {
            image = sketch.reshape(x, output);
        }
        int kernel = random.nextBoolean() ? 3 : 1;
        FlatTable options =
                FlatTable.of("Conv2DOptions")
                        .with("stride_w", 1)
                        .with("stride_h", 1)
                        .with("fused_activation_function", random.nextInt(4));
        int weights = constant(List.of(CHANNELS, kernel, kernel, CHANNELS));
        int bias = constant(List.of(CHANNELS));
        keep(
                sketch.operator("CONV_2D", Optional.of(options), output, image, weights, bias),
                output);
    }

    /** Adds a concatenation, from which a slice takes the first part again, or a softmax. */
    private void addOther(int x, Form form) {
        int other = recent();
        if (random.nextBoolean() && forms.get(other).equals(form)) {
            int rows = form.shape().size() == 4 ? 1 : 0;
            List<Integer> shape = new ArrayList<>(form.shape());
            shape.set(rows, 2 * shape.get(rows));
            FlatTable options = FlatTable.of("ConcatenationOptions").with("axis", rows);
            int[] parts = {x, values.get(other)};
            int joined = sketch.operator("CONCATENATION", Optional.of(options), form(shape), parts);
            int begin = sketch.ints(new int[shape.size()]);
            int size = sketch.ints(form.shape().stream().mapToInt(Integer::intValue).toArray());
            keep(sketch.operator("SLICE", Optional.empty(), form, joined, begin, size), form);
        } else {
            FlatTable options = FlatTable.of("SoftmaxOptions").with("beta", 1f);
            keep(sketch.operator("SOFTMAX", Optional.of(options), form, x), form);
        }
    }

    private int constant(List<Integer> shape) {
        Form form = form(shape);
        return sketch.constant(form, Bits.mild(form.bytes(), random));
    }

    private void chooseOutputs(int inputCount) {
        int last = values.size() - 1;
        sketch.output(values.get(last));
        IntStream.range(inputCount, last)
                .filter(i -> random.nextInt(5) == 0)
                .limit(3)
                .forEach(i -> sketch.output(values.get(i)));
    }
}
