package org.djlplan.memplan.internal.source.torchscript;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class LayerSlicerTest {

    private static String layer(String name, String bias, String body) {
        return "class "
                + name
                + "(Module):\n"
                + "  __parameters__ = [\"weight\", \"bias\", ]\n"
                + "  weight : Tensor\n"
                + "  bias : "
                + bias
                + "\n"
                + "  def forward(self: T,\n"
                + "    x: Tensor) -> Tensor:\n"
                + "    bias = self.bias\n"
                + "    weight = self.weight\n"
                + body;
    }

    @Test
    void slice_linear_computesPartsOfTheOutput() {
        String code = layer("Linear", "Tensor", "    return torch.linear(x, weight, bias)\n");
        assertEquals(
                layer(
                        "Linear",
                        "Tensor",
                        """
                            djlplan_0_rows = (torch.size(weight, 0) + 3) // 4
                            djlplan_0_parts = annotate(List[Tensor], [])
                            for djlplan_0_i in range((torch.size(weight, 0) + djlplan_0_rows - 1) // djlplan_0_rows):
                              djlplan_0_part = torch.linear(x, torch.slice(weight, 0, djlplan_0_i * djlplan_0_rows, (djlplan_0_i + 1) * djlplan_0_rows), torch.slice(bias, 0, djlplan_0_i * djlplan_0_rows, (djlplan_0_i + 1) * djlplan_0_rows))
                              djlplan_0_all = torch.append(djlplan_0_parts, djlplan_0_part)
                            return torch.cat(djlplan_0_parts, -1)
                        """),
                LayerSlicer.slice(code, "Linear", 4));
    }

    @Test
    void slice_linearWithoutBias_leavesTheBiasAlone() {
        String code = layer("Linear", "NoneType", "    y = torch.linear(x, weight, bias)\n");
        String sliced = LayerSlicer.slice(code, "Linear", 2);
        assertTrue(sliced.contains("djlplan_0_rows), bias)\n"), sliced);
        assertTrue(sliced.contains("    y = torch.cat(djlplan_0_parts, -1)\n"), sliced);
    }

    @Test
    void slice_biasOfAnotherName_isSliced() {
        String code =
                layer("Attention", "NoneType", "")
                        .replace("  weight : Tensor\n", "  in_bias : Tensor\n  weight : Tensor\n")
                        .concat("    in_bias0 = self.in_bias\n")
                        .concat("    y = torch.linear(x, weight, in_bias0)\n");
        String sliced = LayerSlicer.slice(code, "Attention", 2);
        assertTrue(sliced.contains(", torch.slice(in_bias0, 0, "), sliced);
    }

    @Test
    void slice_literalNone_isPassedOn() {
        String code = layer("Linear", "Tensor", "    y = torch.linear(x, weight, None)\n");
        String sliced = LayerSlicer.slice(code, "Linear", 2);
        assertTrue(sliced.contains("djlplan_0_rows), None)\n"), sliced);
    }

    @Test
    void slice_biasOfUnknownType_isLeftAlone() {
        String call = "    y = torch.linear(x, weight, b)\n";
        for (String code :
                new String[] {
                    layer("Linear", "Optional[Tensor]", call.replace("b)", "bias)")),
                    layer("Linear", "Tensor", call),
                    layer("Linear", "Tensor", call.replace("b)", "CONSTANTS.c1)")),
                    layer("Linear", "Tensor", "    b = torch.neg(bias)\n" + call),
                    layer("Linear", "Tensor", "    a, b, = torch.unbind(bias)\n" + call),
                    layer("Linear", "Tensor", "    b = self.bias\n    b = bias\n" + call),
                    layer("Linear", "Tensor", "  def f(self: T) -> Tensor:\n" + call)
                            .replace("    bias = ", "    b = ")
                }) {
            assertEquals(code, LayerSlicer.slice(code, "Linear", 2));
        }
    }

    @Test
    void slice_convolution_joinsChannels() {
        String code =
                layer(
                        "Conv2d",
                        "Tensor",
                        "    y = torch._convolution(x, weight, bias, [1, 1], [0, 0], [1, 1],"
                                + " False, [0, 0], 1, False, False, True, True)\n");
        String sliced = LayerSlicer.slice(code, "Conv2d", 2);
        assertTrue(
                sliced.contains(
                        "[1, 1], [0, 0], [1, 1], False, [0, 0], 1, False, False, True, True)\n"),
                sliced);
        assertTrue(sliced.contains("    y = torch.cat(djlplan_0_parts, -3)\n"), sliced);
    }

    @Test
    void slice_groupedOrTransposedConvolution_isLeftAlone() {
        for (String rest :
                new String[] {
                    "False, [0, 0], 8, False, False, True, True)\n",
                    "True, [0, 0], 1, False, False, True, True)\n"
                }) {
            String code =
                    layer(
                            "Conv2d",
                            "Tensor",
                            "    y = torch._convolution(x, weight, bias, [1, 1], [0, 0], [1, 1], "
                                    + rest);
            assertEquals(code, LayerSlicer.slice(code, "Conv2d", 2));
        }
    }

    @Test
    void slice_otherClassesOfTheFile_areLeftAlone() {
        String other = layer("Other", "Tensor", "    return torch.linear(x, weight, bias)\n");
        String code =
                other + layer("Linear", "Tensor", "    return torch.linear(x, weight, bias)\n");
        String sliced = LayerSlicer.slice(code, "Linear", 4);
        assertTrue(sliced.startsWith(other), sliced);
        assertFalse(sliced.equals(code));
        assertEquals(code, LayerSlicer.slice(code, "Absent", 4));
    }
}
