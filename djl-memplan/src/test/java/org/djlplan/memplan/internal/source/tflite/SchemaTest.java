package org.djlplan.memplan.internal.source.tflite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Optional;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.Test;

class SchemaTest {

    /** Numbers of TensorFlow's schema, from both ends and the middle of the enumerations. */
    @Test
    void operators_byCode_areTensorFlows() {
        assertEquals("ADD", Schema.operators().get(0));
        assertEquals("CONV_2D", Schema.operators().get(3));
        assertEquals("CUSTOM", Schema.operators().get(TfLiteOperatorCode.CUSTOM));
        assertEquals("HARD_SWISH", Schema.operators().get(117));
        assertEquals("PLACEHOLDER_FOR_GREATER_OP_CODES", Schema.operators().get(127));
        assertEquals("RIGHT_SHIFT", Schema.operators().get(161));
        assertEquals(162, Schema.operators().size());
    }

    @Test
    void union_builtinOptions_countsAsTensorFlow() {
        List<String> members = Schema.union("BuiltinOptions");
        assertEquals("Conv2DOptions", members.get(1 - 1));
        assertEquals("ReshapeOptions", members.get(17 - 1));
        assertEquals("LeakyReluOptions", members.get(75 - 1));
        assertEquals("GeluOptions", members.get(116 - 1));
        assertEquals("RightShiftOptions", members.get(126 - 1));
    }

    @Test
    void field_afterAUnion_countsTheUnionTwice() {
        assertEquals(3, Schema.table("Operator").field("builtin_options").slot());
        assertEquals(5, Schema.table("Operator").field("custom_options").slot());
        assertEquals(8, Schema.table("Operator").field("intermediates").slot());
    }

    @Test
    void name_ofOperators_isTensorFlowsOrSaysWhatItIs() {
        assertEquals("CONV_2D", TfLiteOperatorCode.builtin("CONV_2D", 1).name());
        assertEquals("CUSTOM:Mine", new TfLiteOperatorCode(32, "Mine", 1).name());
        assertEquals("BUILTIN_999", new TfLiteOperatorCode(999, "", 1).name());
        assertThrows(IllegalArgumentException.class, () -> TfLiteOperatorCode.builtin("CONV2D", 1));
    }

    @Test
    void flatTable_absentField_hasTheDefaultOfTheSchema() {
        FlatTable options = FlatTable.of("Conv2DOptions").with("stride_w", 2);
        assertEquals(2, options.intValue("stride_w"));
        assertEquals(0, options.intValue("stride_h"));
        assertEquals(1, options.intValue("dilation_w_factor"));
        assertEquals(List.of(), FlatTable.of("ReshapeOptions").ints("new_shape"));
        assertEquals(Optional.empty(), FlatTable.of("DimensionMetadata").table("array_segments"));
    }

    @Test
    void flatTable_valueOrFieldThatDoesNotFit_throws() {
        FlatTable options = FlatTable.of("Conv2DOptions");
        assertThrows(IllegalArgumentException.class, () -> options.with("stride", 1));
        assertThrows(IllegalArgumentException.class, () -> options.with("stride_w", 1L));
        assertThrows(IllegalArgumentException.class, () -> options.with("padding", 128));
        FlatTable call = FlatTable.of("CallOptions");
        assertThrows(IllegalArgumentException.class, () -> call.with("subgraph", -1L));
        FlatTable reshape = FlatTable.of("ReshapeOptions");
        assertThrows(
                IllegalArgumentException.class,
                () -> reshape.with("new_shape", ImmutableList.of("1")));
        FlatTable sparse = FlatTable.of("Uint16Vector");
        assertThrows(
                IllegalArgumentException.class,
                () -> sparse.with("values", TfLiteBytes.of(new byte[3])));
        assertThrows(IllegalArgumentException.class, () -> FlatTable.of("NoOptions"));
    }
}
