package org.djlplan.memplan.internal.slicing;

import java.util.BitSet;
import java.util.List;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperator;
import org.djlplan.memplan.internal.source.tflite.TfLiteTensor;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/**
 * Finds the tensors of a main graph that have the file's shapes whenever the inputs have the file's
 * shapes. Tensors that depend on an operator whose output size depends on values are excluded.
 */
final class FixedShapes {

    /** Operators whose integer operands are not sizes. */
    private static final ImmutableSet<String> BY_SHAPES_ALONE =
            ImmutableSet.of(
                    "ADD",
                    "CONCATENATION",
                    "DIV",
                    "EMBEDDING_LOOKUP",
                    "EQUAL",
                    "FLOOR_DIV",
                    "FLOOR_MOD",
                    "GATHER",
                    "GATHER_ND",
                    "GREATER",
                    "GREATER_EQUAL",
                    "LESS",
                    "LESS_EQUAL",
                    "MAXIMUM",
                    "MINIMUM",
                    "MUL",
                    "NOT_EQUAL",
                    "PACK",
                    "SELECT",
                    "SELECT_V2",
                    "SUB");

    /** Operators whose first operand also determines the output size. */
    private static final ImmutableSet<String> SIZES_FIRST =
            ImmutableSet.of("CONV_3D_TRANSPOSE", "FILL", "SPLIT", "TRANSPOSE_CONV");

    /** Operators whose output size depends on other values or other graphs. */
    private static final ImmutableSet<String> BY_VALUES =
            ImmutableSet.of(
                    "CALL",
                    "CALL_ONCE",
                    "IF",
                    "NON_MAX_SUPPRESSION_V4",
                    "NON_MAX_SUPPRESSION_V5",
                    "RANGE",
                    "READ_VARIABLE",
                    "UNIQUE",
                    "WHERE",
                    "WHILE");

    private FixedShapes() {}

    /** Returns the indices of the tensors. */
    static BitSet of(TfLiteFile file) {
        BitSet fixed = new BitSet();
        List<TfLiteTensor> tensors = file.main().tensors();
        for (int id = 0; id < tensors.size(); id++) {
            fixed.set(id, file.isConstant(tensors.get(id)));
        }
        file.main().inputs().forEach(fixed::set);
        for (TfLiteOperator operator : file.main().operators()) {
            if (keepsShapes(file, operator, fixed)) {
                operator.presentOutputs().forEach(fixed::set);
            }
        }
        return fixed;
    }

    private static boolean keepsShapes(TfLiteFile file, TfLiteOperator operator, BitSet fixed) {
        String name = file.codeOf(operator).name();
        if (file.codeOf(operator).isCustom()
                || name.startsWith("BUILTIN_")
                || BY_VALUES.contains(name)
                || !operator.presentInputs().stream().allMatch(fixed::get)) {
            return false;
        }
        if (BY_SHAPES_ALONE.contains(name)) {
            return true;
        }
        for (int i = SIZES_FIRST.contains(name) ? 0 : 1; i < operator.inputs().size(); i++) {
            int id = operator.inputs().get(i);
            if (id != TfLiteOperator.ABSENT && mayBeSize(file.main().tensors().get(id))) {
                if (!file.isConstant(file.main().tensors().get(id))) {
                    return false;
                }
            }
        }
        return true;
    }

    private static boolean mayBeSize(TfLiteTensor tensor) {
        return tensor.elementType() == ElementType.INT32
                || tensor.elementType() == ElementType.INT64;
    }
}
