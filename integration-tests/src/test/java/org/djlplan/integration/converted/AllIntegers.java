package org.djlplan.integration.converted;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperator;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperatorCode;
import org.djlplan.memplan.internal.source.tflite.TfLiteTensor;
import org.djlplan.memplan.internal.source.tflite.TfLiteTensor.Quantization;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/**
 * Converts models of floats to 8-bit integers, as converters do. The scales follow from the ranges
 * of values for a few inputs (Jacob et al. 2018, <a
 * href="https://arxiv.org/abs/1712.05877">Quantization and Training of Neural Networks</a>).
 * Operators without integer kernels stay in floats.
 */
final class AllIntegers {

    private static final int STEPS = 255;
    private static final float LEAST_RANGE = 1e-6f;

    /** Sums have 32 bits, so biases must leave room for the products. */
    private static final float LARGEST_BIAS = 1 << 30;

    /** Operators whose results have the scale and zero point of the first input. */
    private static final ImmutableSet<String> SAME =
            ImmutableSet.of(
                    "RESHAPE",
                    "PAD",
                    "MAX_POOL_2D",
                    "AVERAGE_POOL_2D",
                    "RESIZE_BILINEAR",
                    "RESIZE_NEAREST_NEIGHBOR",
                    "TRANSPOSE",
                    "SQUEEZE",
                    "STRIDED_SLICE",
                    "DEPTH_TO_SPACE");

    /** Operators whose results have their own scale and zero point. */
    private static final ImmutableSet<String> OWN =
            ImmutableSet.of(
                    "CONV_2D",
                    "DEPTHWISE_CONV_2D",
                    "FULLY_CONNECTED",
                    "ADD",
                    "SUB",
                    "MUL",
                    "PRELU",
                    "LEAKY_RELU",
                    "MEAN",
                    "RELU",
                    "RELU6",
                    "CONCATENATION");

    /** The scales and zero points of results that the engine requires. */
    private static final ImmutableMap<String, Steps> FIXED =
            ImmutableMap.of(
                    "LOGISTIC", new Steps(1f / 256, -128),
                    "SOFTMAX", new Steps(1f / 256, -128),
                    "TANH", new Steps(1f / 128, 0),
                    "L2_NORMALIZATION", new Steps(1f / 128, 0));

    private final TfLiteFile file;
    private final Form form;
    private final Ranges ranges;
    private final ModelEdit edit;

    /** For the old number of each tensor that exists in integers, the new number. */
    private final Map<Integer, Integer> integers = new HashMap<>();

    private final Map<Integer, Steps> steps = new HashMap<>();
    private final ArrayList<Integer> inFloats = new ArrayList<>();

    /** The formats in which converters of different years wrote 8-bit models. */
    enum Form {
        /** Weights have a scale for each channel; inputs and outputs are floats. */
        SIGNED(9, 0),
        /** One scale for each tensor; inputs and outputs are integers, too. */
        UNSIGNED(3, 128);

        private final int typeCode;

        /** The number that stands for 0 in weights. */
        private final int zero;

        Form(int typeCode, int zero) {
            this.typeCode = typeCode;
            this.zero = zero;
        }
    }

    /** The scale and zero point of signed integers. */
    private record Steps(float scale, int zeroPoint) {

        static Steps of(float least, float largest) {
            float scale = Math.max(largest - least, LEAST_RANGE) / STEPS;
            return new Steps(scale, Math.round(Byte.MIN_VALUE - least / scale));
        }
    }

    private AllIntegers(TfLiteFile file, Form form, Ranges ranges) {
        this.file = file;
        this.form = form;
        this.ranges = ranges;
        edit = new ModelEdit(file);
    }

    /** Converts a model. */
    static TfLiteFile of(TfLiteFile floats, Form form, Ranges ranges) {
        return new AllIntegers(floats, form, ranges).build();
    }

    private TfLiteFile build() {
        List<Integer> inputs = file.main().inputs();
        List<Integer> outputs = file.main().outputs();
        boolean integersOutside = form == Form.UNSIGNED;
        if (integersOutside) {
            inputs = inputs.stream().map(id -> made(id, own(id))).toList();
        } else {
            inFloats.addAll(inputs);
        }
        file.main().operators().forEach(this::convert);
        outputs = outputs.stream().map(integersOutside ? this::integer : this::floats).toList();
        return edit.build(inputs, outputs);
    }

    private void convert(TfLiteOperator operator) {
        String type = file.codeOf(operator).name();
        if (!isInIntegers(operator, type)) {
            List<Integer> inputs =
                    operator.inputs().stream().map(id -> isComputed(id) ? floats(id) : id).toList();
            edit.operator(operator, inputs, operator.outputs());
            inFloats.addAll(operator.outputs());
            return;
        }
        List<Integer> inputs = new ArrayList<>(operator.inputs());
        if (Weights.dimension(type).isPresent()) {
            inputs.set(0, integer(inputs.get(0)));
            addWeights(operator, type, inputs);
        } else {
            inputs.replaceAll(id -> isComputed(id) || edit.isFloats(id) ? integer(id) : id);
        }
        int first = operator.inputs().get(0);
        int output = operator.outputs().get(0);
        Steps result =
                SAME.contains(type) ? steps.get(first) : FIXED.getOrDefault(type, own(output));
        if (type.equals("CONCATENATION")) {
            inputs.replaceAll(id -> inSteps(id, result));
        }
        edit.operator(operator, inputs, List.of(made(output, result)));
    }

    private boolean isInIntegers(TfLiteOperator operator, String type) {
        boolean known =
                SAME.contains(type)
                        || OWN.contains(type)
                        || FIXED.containsKey(type)
                        || (form == Form.SIGNED && type.equals("ABS"));
        boolean weights =
                Weights.dimension(type).isEmpty()
                        || edit.isFloats(operator.inputs().get(Weights.POSITION));
        return known
                && weights
                && edit.tensor(operator.outputs().get(0)).typeCode() == TfLiteTensor.FLOAT32;
    }

    private boolean isComputed(int id) {
        return inFloats.contains(id) || integers.containsKey(id);
    }

    private Steps own(int id) {
        return Steps.of(ranges.least().get(id), ranges.largest().get(id));
    }

    /** Adds the integer tensor for a tensor of floats. */
    private int made(int id, Steps of) {
        int made = edit.add(id, form.typeCode, 0, Optional.of(quantization(of)));
        integers.put(id, made);
        steps.put(id, of);
        return made;
    }

    private Quantization quantization(Steps of) {
        return new Quantization(
                List.of(),
                List.of(),
                List.of(of.scale()),
                List.of((long) of.zeroPoint() + form.zero),
                Optional.empty(),
                0);
    }

    /** Returns the integer tensor for a tensor of floats. */
    private int integer(int id) {
        if (!integers.containsKey(id)) {
            if (edit.isFloats(id)) {
                addConstant(id);
            } else {
                Steps own = own(id);
                quantize(id, made(id, own));
            }
        }
        return integers.get(id);
    }

    private void quantize(int from, int to) {
        edit.operator(
                TfLiteOperatorCode.builtin("QUANTIZE", 1),
                FlatTable.of("QuantizeOptions"),
                from,
                to);
    }

    /** Returns the tensor of floats, which an operator makes from the integers. */
    private int floats(int id) {
        if (!inFloats.contains(id)) {
            edit.operator(
                    TfLiteOperatorCode.builtin("DEQUANTIZE", 2),
                    FlatTable.of("DequantizeOptions"),
                    integers.get(id),
                    id);
            inFloats.add(id);
        }
        return id;
    }

    /** Returns the integers with another scale and zero point. */
    private int inSteps(int id, Steps wanted) {
        Quantization quantization = quantization(wanted);
        if (edit.tensor(id).quantization().equals(Optional.of(quantization))) {
            return id;
        }
        int other = edit.add(id, form.typeCode, 0, Optional.of(quantization));
        quantize(id, other);
        return other;
    }

    private void addConstant(int id) {
        float[] values = edit.floats(id);
        Ranges range = Ranges.of(id, values);
        Steps own = Steps.of(range.least().get(id), range.largest().get(id));
        ByteBuffer content = ModelEdit.littleEndian(values.length);
        for (float value : values) {
            int number = Math.round(value / own.scale()) + own.zeroPoint();
            content.put((byte) (Math.min(Byte.MAX_VALUE, number) + form.zero));
        }
        integers.put(
                id,
                edit.constant(id, form.typeCode, content.rewind(), Optional.of(quantization(own))));
        steps.put(id, own);
    }

    /**
     * Converts weights and a bias. If a channel's weights are so small that its bias would not fit
     * into 32 bits, the channel's scale is larger than its weights need.
     */
    private void addWeights(TfLiteOperator operator, String type, List<Integer> inputs) {
        float inputScale = steps.get(operator.inputs().get(0)).scale();
        int weightsId = operator.inputs().get(Weights.POSITION);
        int biasId =
                operator.inputs().size() > Weights.BIAS_POSITION
                        ? operator.inputs().get(Weights.BIAS_POSITION)
                        : TfLiteOperator.ABSENT;
        float[] bias = edit.isFloats(biasId) ? edit.floats(biasId) : new float[0];
        float[] least = new float[bias.length];
        for (int i = 0; i < bias.length; i++) {
            least[i] = Math.abs(bias[i]) / inputScale / LARGEST_BIAS;
        }
        float[] values = edit.floats(weightsId);
        boolean together = form == Form.UNSIGNED || type.equals("FULLY_CONNECTED");
        Weights weights =
                together
                        ? Weights.together(values, Byte.SIZE, least)
                        : Weights.byChannel(
                                values,
                                edit.tensor(weightsId).shape(),
                                Weights.dimension(type).orElseThrow(),
                                Byte.SIZE,
                                least);
        inputs.set(
                Weights.POSITION,
                edit.constant(
                        weightsId,
                        form.typeCode,
                        weights.bytes(form.zero),
                        Optional.of(weights.quantization(form.zero))));
        if (bias.length > 0) {
            inputs.set(Weights.BIAS_POSITION, bias(biasId, bias, weights, inputScale));
        }
    }

    private int bias(int id, float[] values, Weights weights, float inputScale) {
        ByteBuffer content = ModelEdit.littleEndian(Integer.BYTES * values.length);
        List<Float> scales = new ArrayList<>();
        for (int i = 0; i < weights.scales().length; i++) {
            scales.add(inputScale * weights.scale(i));
        }
        for (int i = 0; i < values.length; i++) {
            content.putInt(Math.round(values[i] / (inputScale * weights.scale(i))));
        }
        Quantization quantization =
                new Quantization(
                        List.of(),
                        List.of(),
                        scales,
                        Collections.nCopies(scales.size(), 0L),
                        Optional.empty(),
                        0);
        return edit.constant(id, TfLiteTensor.INT32, content.rewind(), Optional.of(quantization));
    }
}
