package org.djlplan.memplan.cli;

import ai.djl.ndarray.types.Shape;
import ai.djl.tflite.engine.TfLiteDataType;
import com.google.common.collect.ImmutableList;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.tensorflow.lite.DataType;
import org.tensorflow.lite.Interpreter;
import org.tensorflow.lite.Tensor;

/** Asks TensorFlow Lite for the inputs of a model. */
final class TfLiteInputs {

    private TfLiteInputs() {}

    /**
     * Returns the shapes and types of a model's inputs.
     *
     * @throws Failure if the engine cannot read the model, or an input holds strings
     */
    static ImmutableList<InputSpec> read(Path model) {
        try (Interpreter interpreter = new Interpreter(model.toFile())) {
            ImmutableList.Builder<InputSpec> inputs = ImmutableList.builder();
            for (int i = 0; i < interpreter.getInputTensorCount(); i++) {
                inputs.add(spec(interpreter.getInputTensor(i)));
            }
            return inputs.build();
        } catch (IllegalArgumentException | IllegalStateException e) {
            throw new Failure("TensorFlow Lite cannot read " + model, e);
        }
    }

    /**
     * Returns the inputs with the shapes that a user asked for in place of their own.
     *
     * @param given one per input, or none
     * @throws Failure if the number or a type differs
     */
    static ImmutableList<InputSpec> reshape(List<InputSpec> own, List<InputSpec> given) {
        if (given.isEmpty()) {
            return ImmutableList.copyOf(own);
        }
        if (given.size() != own.size()) {
            throw new Failure(
                    "the model takes %d inputs, not %d: %s"
                            .formatted(own.size(), given.size(), texts(own)));
        }
        ImmutableList.Builder<InputSpec> inputs = ImmutableList.builder();
        for (int i = 0; i < own.size(); i++) {
            InputSpec wanted = given.get(i);
            if (wanted.type().isPresent() && !wanted.type().equals(own.get(i).type())) {
                throw new Failure(
                        "input %d of the model is %s, not %s"
                                .formatted(i, own.get(i).text(), wanted.text()));
            }
            inputs.add(new InputSpec(wanted.shape(), own.get(i).type()));
        }
        return inputs.build();
    }

    /** Returns the inputs as a user writes them. */
    static String texts(List<InputSpec> inputs) {
        return String.join(" ", inputs.stream().map(InputSpec::text).toList());
    }

    static int[] dimensions(Shape shape) {
        return Arrays.stream(shape.getShape()).mapToInt(Math::toIntExact).toArray();
    }

    private static InputSpec spec(Tensor input) {
        if (input.dataType() == DataType.STRING) {
            throw new Failure("input '" + input.name() + "' holds strings: not supported");
        }
        long[] shape = Arrays.stream(input.shape()).asLongStream().toArray();
        return new InputSpec(
                new Shape(shape), Optional.of(TfLiteDataType.fromTf(input.dataType())));
    }
}
