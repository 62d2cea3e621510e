package org.djlplan.memplan.internal.usage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.testing.GraphSketch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AliasAnalysisTest {

    private final GraphSketch sketch = new GraphSketch();
    private int input;
    private int x;
    private int y;
    private int z;
    private int output;

    @BeforeEach
    void conv() {
        input = sketch.input(2, 3);
        x = sketch.tensor(2, 3);
        y = sketch.tensor(2, 3);
        z = sketch.tensor(2, 3);
        output = sketch.tensor(2, 3);
        sketch.output(output).operator("CONV_2D", x, input);
    }

    private void assertClasses(List<?> expected) {
        assertEquals(expected, AliasAnalysis.aliasClasses(sketch.build()));
    }

    @Test
    void overwrite_inputDies_shares() {
        sketch.operator("RELU", y, x).operator("CONV_2D", output, y);
        assertClasses(List.of(List.of(x, y)));
    }

    @Test
    void overwrite_chain_sharesOnePlace() {
        sketch.operator("RELU", y, x).operator("TANH", z, y).operator("CONV_2D", output, z);
        assertClasses(List.of(List.of(x, y, z)));
    }

    @Test
    void overwrite_constantOrVariable_takesTheOther() {
        int constant = sketch.tensor(ElementType.FLOAT32, Storage.CONSTANT, 2, 3);
        int variable = sketch.tensor(ElementType.FLOAT32, Storage.VARIABLE, 2, 3);
        sketch.operator("SUB", y, constant, x)
                .operator("DIV", z, variable, y)
                .operator("CONV_2D", output, z);
        assertClasses(List.of(List.of(x, y, z)));
    }

    @Test
    void overwrite_unknownOperator_doesNotShare() {
        sketch.operator("SOFTMAX", y, x).operator("CONV_2D", output, y);
        assertClasses(List.of());
    }

    @Test
    void overwrite_typeWithoutRule_doesNotShare() {
        int a = sketch.tensor(ElementType.INT64, Storage.INTERMEDIATE, 2, 3);
        int b = sketch.tensor(ElementType.INT64, Storage.INTERMEDIATE, 2, 3);
        sketch.operator("CAST", a, x).operator("NEG", b, a).operator("CAST", output, b);
        assertClasses(List.of());
    }

    @Test
    void overwrite_sameTensorTwice_shares() {
        sketch.operator("SUB", y, x, x).operator("CONV_2D", output, y);
        assertClasses(List.of(List.of(x, y)));
    }

    @Test
    void overwrite_viewOfSameClassWithAnUnitDimension_doesNotShare() {
        int wide = sketch.tensor(1, 2, 3);
        int sum = sketch.tensor(1, 2, 3);
        sketch.operator("EXPAND_DIMS", wide, x)
                .operator("SUB", sum, wide, x)
                .operator("CONV_2D", output, sum);
        assertClasses(List.of(List.of(x, wide)));
    }

    @Test
    void overwrite_viewOfSameShape_shares() {
        sketch.operator("RESHAPE", y, x).operator("SUB", z, x, y).operator("CONV_2D", output, z);
        assertClasses(List.of(List.of(x, y, z)));
    }

    @Test
    void overwrite_broadcast_takesTheLargerOperandOnly() {
        int bias = sketch.tensor(3);
        sketch.operator("MEAN", bias, input)
                .operator("SUB", y, bias, x)
                .operator("CONV_2D", output, y);
        assertClasses(List.of(List.of(x, y)));
    }

    @Test
    void view_inputLivesOn_sharesUntilSomethingWouldOverwrite() {
        int flat = sketch.tensor(6);
        sketch.operator("RESHAPE", flat, x)
                .operator("RELU", y, x)
                .operator("FULLY_CONNECTED", z, flat)
                .operator("CONCATENATION", output, y, z);
        assertClasses(List.of(List.of(x, flat)));
    }

    @Test
    void view_ofOverwritten_waitsForTheWholeClass() {
        int flat = sketch.tensor(6);
        int relu = sketch.tensor(6);
        sketch.operator("RESHAPE", flat, x)
                .operator("RELU", relu, flat)
                .operator("CONCATENATION", output, relu);
        assertClasses(List.of(List.of(x, flat, relu)));
    }

    @Test
    void view_chain_isOneClass() {
        int flat = sketch.tensor(6);
        int deep = sketch.tensor(1, 6);
        sketch.operator("SQUEEZE", flat, x)
                .operator("EXPAND_DIMS", deep, flat)
                .operator("RESHAPE", y, deep)
                .operator("CONCATENATION", output, x, flat, y);
        assertClasses(List.of(List.of(x, y, flat, deep)));
    }

    @Test
    void severalOutputs_neverShare() {
        sketch.operator("RELU", List.of(x), List.of(y, z), List.of())
                .operator("CONCATENATION", output, y, z);
        assertClasses(List.of());
    }

    @Test
    void temporary_neverShares() {
        sketch.operator("RELU", List.of(x), List.of(y), List.of(z)).operator("CONV_2D", output, y);
        assertClasses(List.of(List.of(x, y)));
    }

    @Test
    void temporaryReadElsewhere_neverShares() {
        sketch.operator("CONV_2D", List.of(input), List.of(y), List.of(x))
                .operator("RELU", z, x)
                .operator("CONCATENATION", output, y, z);
        assertClasses(List.of());
    }

    @Test
    void writtenTwice_neverShares() {
        sketch.operator("RESHAPE", y, x)
                .operator("CONV_2D", x, input)
                .operator("CONCATENATION", output, x, y);
        assertClasses(List.of());
    }

    @Test
    void readBeforeItIsWritten_neverShares() {
        sketch.operator("RESHAPE", y, z)
                .operator("CONV_2D", z, x)
                .operator("CONCATENATION", output, y, z);
        assertClasses(List.of());
    }

    @Test
    void writesItsOwnInput_neverShares() {
        sketch.operator("RELU", y, x, y).operator("CONV_2D", output, y);
        assertClasses(List.of());
    }

    @Test
    void allowed_table_hasOneRulePerOperatorAndType() {
        assertTrue(InPlaceRules.find("SUB", ElementType.FLOAT32).isPresent());
        assertTrue(InPlaceRules.find("SUB", ElementType.INT32).isEmpty());
        assertTrue(InPlaceRules.find("RESHAPE", ElementType.OPAQUE).isEmpty());
        for (InPlaceRules.Rule rule : InPlaceRules.allowed()) {
            assertEquals(rule, InPlaceRules.find(rule.operator(), rule.type()).orElseThrow());
        }
    }
}
