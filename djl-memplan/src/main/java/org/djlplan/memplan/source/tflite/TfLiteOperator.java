package org.djlplan.memplan.source.tflite;

import com.google.common.collect.ImmutableList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntUnaryOperator;

/**
 * An operator as the file has it. Tensors are given by index into the subgraph's tensors.
 *
 * @param opcodeIndex index into the file's operator codes
 * @param inputs tensors it reads; {@link #ABSENT} stands for an optional one that is left out
 * @param outputs tensors it writes; {@link #ABSENT} as above
 * @param builtinOptions the table of its options, a member of the format's union {@code
 *     BuiltinOptions}
 * @param customOptions options of a custom operator, in a format of its own
 * @param customOptionsFormat number of that format; 0 is FlexBuffers
 * @param mutatingVariableInputs for each input whether it is state that the operator changes; empty
 *     if none is
 * @param intermediates tensors inside the operator that only carry quantization
 */
public record TfLiteOperator(
        int opcodeIndex,
        List<Integer> inputs,
        List<Integer> outputs,
        Optional<FlatTable> builtinOptions,
        TfLiteBytes customOptions,
        int customOptionsFormat,
        List<Boolean> mutatingVariableInputs,
        List<Integer> intermediates) {

    /** In place of the index of a tensor that is left out. The format's own number. */
    public static final int ABSENT = -1;

    public TfLiteOperator {
        inputs = ImmutableList.copyOf(inputs);
        outputs = ImmutableList.copyOf(outputs);
        mutatingVariableInputs = ImmutableList.copyOf(mutatingVariableInputs);
        intermediates = ImmutableList.copyOf(intermediates);
    }

    /** A builtin operator. */
    public static TfLiteOperator builtin(
            int opcodeIndex, List<Integer> inputs, List<Integer> outputs, FlatTable options) {
        return new TfLiteOperator(
                opcodeIndex,
                inputs,
                outputs,
                Optional.of(options),
                TfLiteBytes.EMPTY,
                0,
                List.of(),
                List.of());
    }

    /** Returns the inputs that are not left out. */
    public List<Integer> presentInputs() {
        return present(inputs);
    }

    /** Returns the outputs that are not left out. */
    public List<Integer> presentOutputs() {
        return present(outputs);
    }

    /** Returns whether an input is state that the operator changes. */
    public boolean mutates(int inputPosition) {
        return inputPosition < mutatingVariableInputs.size()
                && mutatingVariableInputs.get(inputPosition);
    }

    /** Returns the same operator when the subgraphs that it calls have other indices. */
    TfLiteOperator calling(IntUnaryOperator moved) {
        return new TfLiteOperator(
                opcodeIndex,
                inputs,
                outputs,
                builtinOptions.map(options -> options.calling(moved)),
                customOptions,
                customOptionsFormat,
                mutatingVariableInputs,
                intermediates);
    }

    /** Returns the same operator with other outputs. */
    TfLiteOperator writing(List<Integer> others) {
        return new TfLiteOperator(
                opcodeIndex,
                inputs,
                others,
                builtinOptions,
                customOptions,
                customOptionsFormat,
                mutatingVariableInputs,
                intermediates);
    }

    private static List<Integer> present(List<Integer> tensors) {
        return tensors.stream().filter(tensor -> tensor != ABSENT).toList();
    }
}
