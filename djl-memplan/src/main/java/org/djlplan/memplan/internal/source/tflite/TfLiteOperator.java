package org.djlplan.memplan.internal.source.tflite;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntUnaryOperator;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * An operator as stored in the file. Tensors are given by index into the subgraph's tensors.
 *
 * @param opcodeIndex index into the file's operator codes
 * @param inputs tensors that it reads; {@link #ABSENT} for an omitted optional one
 * @param outputs tensors that it writes; {@link #ABSENT} for an omitted optional one
 * @param builtinOptions the table of its options, a member of one of the format's unions {@code
 *     BuiltinOptions} and {@code BuiltinOptions2}
 * @param customOptions options of a custom operator, in its own format
 * @param customOptionsFormat number of that format; 0 is FlexBuffers
 * @param mutatingVariableInputs for each input whether it is state that the operator modifies;
 *     empty if none is
 * @param intermediates tensors inside the operator that have quantization only
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

    /** Replaces the index of an omitted tensor. Defined by the format. */
    public static final int ABSENT = -1;

    public TfLiteOperator {
        inputs = ImmutableList.copyOf(inputs);
        outputs = ImmutableList.copyOf(outputs);
        mutatingVariableInputs = ImmutableList.copyOf(mutatingVariableInputs);
        intermediates = ImmutableList.copyOf(intermediates);
    }

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

    public List<Integer> presentInputs() {
        return present(inputs);
    }

    public List<Integer> presentOutputs() {
        return present(outputs);
    }

    /** Returns whether an input is state that the operator modifies. */
    public boolean mutates(int inputPosition) {
        return inputPosition < mutatingVariableInputs.size()
                && mutatingVariableInputs.get(inputPosition);
    }

    /** Returns the indices of the subgraphs that it calls, by the option that names each. */
    Map<String, Long> calls() {
        return builtinOptions.map(FlatTable::subgraphs).orElse(Map.of());
    }

    /** Returns this operator with other indices of the subgraphs that it calls. */
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
