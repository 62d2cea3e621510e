package org.djlplan.integration.tflite.hostile;

import java.util.ArrayList;
import java.util.List;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.thirdparty.guava.base.Splitter;

/** Makes {@link CraftedFile}s whose integers have scales that break kernels. */
final class ScaleFiles extends OperatorFiles {

    /** Scales with which integers stand for no real value. */
    private static final float[] SCALES = {
        0,
        Float.NaN,
        Float.POSITIVE_INFINITY,
        -1,
        1e-40f,
        1e-12f,
        1e-8f,
        1e-5f,
        1e4f,
        1e8f,
        1e12f,
        3e38f
    };

    /** Operators, each with the type of its options if it has any. */
    private static final String[] BINARY = {
        "ADD AddOptions", "SUB SubOptions", "MUL MulOptions",
        "SQUARED_DIFFERENCE", "MAXIMUM", "CONCATENATION ConcatenationOptions",
        "PRELU", "LESS", "EQUAL"
    };

    private static final String[] UNARY = {
        "LOGISTIC", "TANH", "RELU", "RELU6", "LEAKY_RELU LeakyReluOptions", "HARD_SWISH", "ELU",
        "EXP", "LOG", "ABS", "RSQRT", "GELU GeluOptions", "SOFTMAX SoftmaxOptions", "LOG_SOFTMAX",
        "L2_NORMALIZATION L2NormOptions", "QUANTIZE", "DEQUANTIZE", "RESHAPE"
    };

    private ScaleFiles() {}

    /** Returns all of them. */
    static List<CraftedFile> all() {
        ScaleFiles made = new ScaleFiles();
        made.quantized();
        return made.files;
    }

    private void quantized() {
        List<List<Float>> scales = new ArrayList<>(List.of(List.of()));
        for (float scale : SCALES) {
            scales.add(List.of(scale));
        }
        for (ElementType type : List.of(ElementType.INT8, ElementType.UINT8, ElementType.INT16)) {
            for (List<Float> bad : scales) {
                for (int spoilt = 0; spoilt < 3; spoilt++) {
                    for (String operator : BINARY) {
                        binary(operator, type, bad, spoilt);
                    }
                    for (String operator : UNARY) {
                        unary(operator, type, bad, spoilt);
                    }
                }
                for (int spoilt = 0; type == ElementType.INT8 && spoilt < 4; spoilt++) {
                    weighted(bad, spoilt);
                }
            }
        }
    }

    /** A tensor that may have bad scales. */
    private static Operand scaled(boolean spoilt, List<Float> scales, Form form, boolean input) {
        return file -> {
            if (input) {
                file.inputs().add(random(form));
                file.shapes().add(form.shape());
            }
            ModelSketch model = file.model();
            if (spoilt) {
                return input ? model.input(form, scales) : model.tensor(form, scales);
            }
            return input ? model.input(form) : model.tensor(form);
        };
    }

    private static Operand weights(boolean spoilt, List<Float> scales, Form form) {
        return spoilt
                ? file -> file.model().constant(form, scales, 0, random(form))
                : constant(form);
    }

    private void quantized(
            String operator, String name, List<Operand> results, Operand... operands) {
        List<String> parts = Splitter.on(' ').splitToList(operator);
        add(name, parts.get(0), parts.size() > 1 ? options(parts.get(1)) : null, results, operands);
    }

    /**
     * @param spoilt which tensor has bad scales: 0 or 1 for an operand, 2 for the result
     */
    private void binary(String operator, ElementType type, List<Float> scales, int spoilt) {
        Form form = Form.of(type, 1, 8).scaled(0.1f, 0);
        boolean truth = operator.startsWith("LESS") || operator.startsWith("EQUAL");
        Operand out =
                truth && spoilt < 2
                        ? result(Form.of(ElementType.BOOL, 1, 8))
                        : scaled(spoilt == 2, scales, form, false);
        Operand first = scaled(spoilt == 0, scales, form, true);
        Operand second = scaled(spoilt == 1, scales, form, true);
        quantized(operator, type + " " + spoilt + " " + scales, List.of(out), first, second);
    }

    private void unary(String operator, ElementType type, List<Float> scales, int spoilt) {
        boolean fromFloat = operator.equals("QUANTIZE");
        boolean toFloat = operator.equals("DEQUANTIZE");
        if (spoilt == 1 || (fromFloat && spoilt == 0) || (toFloat && spoilt == 2)) {
            return;
        }
        Form form = Form.of(type, 1, 8).scaled(0.1f, 0);
        Form from = fromFloat ? floats(1, 8) : form;
        Operand out = scaled(spoilt == 2, scales, toFloat ? floats(1, 8) : form, false);
        Operand x = scaled(spoilt == 0, scales, from, true);
        quantized(operator, type + " " + spoilt + " " + scales, List.of(out), x);
    }

    /**
     * @param spoilt which tensor has bad scales: the image, the weights, the result or the bias
     */
    private void weighted(List<Float> scales, int spoilt) {
        for (String operator : List.of("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")) {
            boolean full = operator.equals("FULLY_CONNECTED");
            boolean depthwise = operator.equals("DEPTHWISE_CONV_2D");
            int[] shape = full ? new int[] {1, 8} : new int[] {1, 4, 4, 2};
            int[] filter = full ? new int[] {2, 8} : new int[] {depthwise ? 1 : 2, 2, 2, 2};
            Form image = Form.of(ElementType.INT8, shape).scaled(0.1f, 0);
            Form weights = Form.of(ElementType.INT8, filter).scaled(0.1f, 0);
            Form bias = ints(2).scaled(0.01f, 0);
            add(
                    "int8 " + spoilt + " " + scales,
                    operator,
                    full ? options("FullyConnectedOptions") : depthwise ? DEPTHWISE : CONVOLUTION,
                    List.of(scaled(spoilt == 2, scales, image, false)),
                    scaled(spoilt == 0, scales, image, true),
                    weights(spoilt == 1, scales, weights),
                    weights(spoilt == 3, scales, bias));
        }
    }
}
