package org.djlplan.integration.support;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.djlplan.thirdparty.guava.base.Splitter;

/** Writes small ONNX models. A dimension of −1 may have any length. */
public final class OnnxSketch {

    /** Element types, with ONNX's numbers. */
    public enum Type {
        FLOAT(1),
        INT8(3),
        INT64(7),
        STRING(8),
        FLOAT16(10);

        private final int code;

        Type(int code) {
            this.code = code;
        }
    }

    private static final Splitter NAMES = Splitter.on(' ');
    private static final int IR_VERSION = 8;
    private static final int OPSET = 13;
    private static final int FLOAT_ATTRIBUTE = 1;
    private static final int INT_ATTRIBUTE = 2;
    private static final int INTS_ATTRIBUTE = 7;

    private final Message graph = new Message();
    private final Random random = new Random(7);
    private final List<Message> weights = new ArrayList<>();
    private final List<byte[]> values = new ArrayList<>();
    private final ByteArrayOutputStream external = new ByteArrayOutputStream();
    private boolean isExternal;

    /** A protocol-buffer message. */
    private static final class Message {

        private static final int VARINT = 0;
        private static final int LENGTH = 2;
        private static final int FIXED32 = 5;

        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        private void varint(long value) {
            long left = value;
            while ((left & ~0x7FL) != 0) {
                bytes.write((int) ((left & 0x7F) | 0x80));
                left >>>= 7;
            }
            bytes.write((int) left);
        }

        Message number(int field, long value) {
            varint((long) field << 3 | VARINT);
            varint(value);
            return this;
        }

        Message real(int field, float value) {
            varint((long) field << 3 | FIXED32);
            bytes.writeBytes(
                    ByteBuffer.allocate(Float.BYTES)
                            .order(ByteOrder.LITTLE_ENDIAN)
                            .putFloat(value)
                            .array());
            return this;
        }

        Message bytes(int field, byte[] value) {
            varint((long) field << 3 | LENGTH);
            varint(value.length);
            bytes.writeBytes(value);
            return this;
        }

        Message text(int field, String value) {
            return bytes(field, value.getBytes(StandardCharsets.UTF_8));
        }

        Message message(int field, Message value) {
            return bytes(field, value.bytes.toByteArray());
        }
    }

    /** The description of an operator. */
    public final class Node {

        private final Message message = new Message();

        private Node() {}

        private Message attribute(String name, int type) {
            return new Message().text(1, name).number(20, type);
        }

        /** Adds an attribute. */
        public Node with(String name, long value) {
            message.message(5, attribute(name, INT_ATTRIBUTE).number(3, value));
            return this;
        }

        /** Adds an attribute. */
        public Node with(String name, float value) {
            message.message(5, attribute(name, FLOAT_ATTRIBUTE).real(2, value));
            return this;
        }

        /** Adds an attribute. */
        public Node with(String name, List<Long> values) {
            Message attribute = attribute(name, INTS_ATTRIBUTE);
            values.forEach(value -> attribute.number(8, value));
            message.message(5, attribute);
            return this;
        }

        /** Adds the operator to the model. */
        public OnnxSketch add() {
            graph.message(1, message);
            return OnnxSketch.this;
        }
    }

    /**
     * Describes an operator.
     *
     * @param inputs names of its inputs, separated by spaces
     * @param outputs names of its outputs
     */
    public Node node(String operator, String inputs, String outputs) {
        Node node = new Node();
        for (String input : NAMES.split(inputs)) {
            node.message.text(1, input);
        }
        for (String output : NAMES.split(outputs)) {
            node.message.text(2, output);
        }
        node.message.text(4, operator);
        return node;
    }

    private static Message value(String name, Type type, long... dimensions) {
        Message shape = new Message();
        for (int i = 0; i < dimensions.length; i++) {
            Message dimension = new Message();
            shape.message(
                    1,
                    dimensions[i] < 0
                            ? dimension.text(2, name + i)
                            : dimension.number(1, dimensions[i]));
        }
        Message tensor = new Message().number(1, type.code).message(2, shape);
        return new Message().text(1, name).message(2, new Message().message(1, tensor));
    }

    /** Adds an input of the model. */
    public OnnxSketch input(String name, Type type, long... dimensions) {
        graph.message(11, value(name, type, dimensions));
        return this;
    }

    /** Adds an output of the model. */
    public OnnxSketch output(String name, Type type, long... dimensions) {
        graph.message(12, value(name, type, dimensions));
        return this;
    }

    /** Adds weights that are random, but the same in each run. */
    public OnnxSketch weights(String name, long... dimensions) {
        int count = 1;
        for (long length : dimensions) {
            count = Math.toIntExact(count * length);
        }
        ByteBuffer data = ByteBuffer.allocate(count * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            data.putFloat((random.nextFloat() - 0.5f) / 4);
        }
        return constant(name, Type.FLOAT, data.array(), dimensions);
    }

    /** Adds a list of integers. */
    public OnnxSketch integers(String name, long... values) {
        ByteBuffer data =
                ByteBuffer.allocate(values.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (long value : values) {
            data.putLong(value);
        }
        return constant(name, Type.INT64, data.array(), values.length);
    }

    private OnnxSketch constant(String name, Type type, byte[] data, long... dimensions) {
        Message tensor = new Message();
        for (long length : dimensions) {
            tensor.number(1, length);
        }
        weights.add(tensor.number(2, type.code).text(8, name));
        values.add(data);
        return this;
    }

    /** Writes the weights into a file of their own, beside the model. */
    public OnnxSketch withExternalData() {
        isExternal = true;
        return this;
    }

    private static Message entry(String key, String value) {
        return new Message().text(1, key).text(2, value);
    }

    private void addWeights(String externalFile) {
        for (int i = 0; i < weights.size(); i++) {
            Message tensor = weights.get(i);
            byte[] data = values.get(i);
            if (isExternal) {
                tensor.message(13, entry("location", externalFile))
                        .message(13, entry("offset", "" + external.size()))
                        .message(13, entry("length", "" + data.length))
                        .number(14, 1);
                external.writeBytes(data);
            } else {
                tensor.bytes(9, data);
            }
            graph.message(5, tensor);
        }
    }

    /** Writes the model to a file, once. */
    public Path write(Path file) throws IOException {
        String beside = file.getFileName() + ".data";
        addWeights(beside);
        if (isExternal) {
            Files.write(file.resolveSibling(beside), external.toByteArray());
        }
        Message model =
                new Message()
                        .number(1, IR_VERSION)
                        .message(7, graph.text(2, "graph"))
                        .message(8, new Message().number(2, OPSET));
        return Files.write(file, model.bytes.toByteArray());
    }

    /** Adds half-precision weights of small powers of two. */
    private OnnxSketch halfWeights(String name, int rows, int columns) {
        ByteBuffer data =
                ByteBuffer.allocate(rows * columns * Short.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < rows * columns; i++) {
            // A sign, an exponent of 7 to 10, and no fraction.
            data.putShort((short) (random.nextInt(2) << 15 | (7 + random.nextInt(4)) << 10));
        }
        return constant(name, Type.FLOAT16, data.array(), rows, columns);
    }

    /** Two layers with half-precision weights: {@code x} of N×64 to {@code y} of N×64. */
    public static OnnxSketch half() {
        return new OnnxSketch()
                .input("x", Type.FLOAT, -1, 64)
                .node("Cast", "x", "h0")
                .with("to", Type.FLOAT16.code)
                .add()
                .halfWeights("a_w", 64, 64)
                .node("MatMul", "h0 a_w", "h1")
                .add()
                .node("Relu", "h1", "h2")
                .add()
                .halfWeights("b_w", 64, 64)
                .node("MatMul", "h2 b_w", "h3")
                .add()
                .node("Cast", "h3", "y")
                .with("to", Type.FLOAT.code)
                .add()
                .output("y", Type.FLOAT, -1, 64);
    }

    /** A layer with 8-bit weights: {@code x} of N×64 to {@code y} of N×64. */
    public static OnnxSketch quantized() {
        OnnxSketch sketch = new OnnxSketch().input("x", Type.FLOAT, -1, 64);
        byte[] data = new byte[64 * 64];
        sketch.random.nextBytes(data);
        return sketch.constant("w", Type.INT8, data, 64, 64)
                .node("DynamicQuantizeLinear", "x", "q scale zero")
                .add()
                .node("MatMulInteger", "q w zero", "i")
                .add()
                .node("Cast", "i", "f")
                .with("to", Type.FLOAT.code)
                .add()
                .node("Mul", "f scale", "y")
                .add()
                .output("y", Type.FLOAT, -1, 64);
    }

    private OnnxSketch convolution(String input, String output, long from, long to, long stride) {
        return weights(output + "_w", to, from, 3, 3)
                .weights(output + "_b", to)
                .node("Conv", input + " " + output + "_w " + output + "_b", output + "_c")
                .with("kernel_shape", List.of(3L, 3L))
                .with("pads", List.of(1L, 1L, 1L, 1L))
                .with("strides", List.of(stride, stride))
                .add()
                .node("Relu", output + "_c", output)
                .add();
    }

    /** Classifies images of any size: {@code image} of N×3×H×W to {@code classes} of N×10. */
    public static OnnxSketch classifier() {
        return new OnnxSketch()
                .input("image", Type.FLOAT, -1, 3, -1, -1)
                .convolution("image", "a", 3, 16, 1)
                .convolution("a", "b", 16, 32, 2)
                .convolution("b", "c", 32, 32, 1)
                .node("Add", "b c", "d")
                .add()
                .node("GlobalAveragePool", "d", "e")
                .add()
                .node("Flatten", "e", "f")
                .add()
                .weights("g_w", 32, 10)
                .weights("g_b", 10)
                .node("Gemm", "f g_w g_b", "g")
                .add()
                .node("Softmax", "g", "classes")
                .add()
                .output("classes", Type.FLOAT, -1, 10);
    }

    /** Finds areas of images of any size: {@code image} of N×3×H×W to {@code areas} of N×1×H×W. */
    public static OnnxSketch detector() {
        return new OnnxSketch()
                .input("image", Type.FLOAT, -1, 3, -1, -1)
                .convolution("image", "a", 3, 16, 1)
                .convolution("a", "b", 16, 16, 1)
                .convolution("b", "c", 16, 16, 1)
                .node("Add", "a c", "d")
                .add()
                .convolution("d", "e", 16, 1, 1)
                .node("Sigmoid", "e", "areas")
                .add()
                .output("areas", Type.FLOAT, -1, 1, -1, -1);
    }

    /** Encodes texts with few layers. */
    public static OnnxSketch encoder() {
        return encoder(3, 64);
    }

    /**
     * Encodes texts: {@code ids} of B×T to {@code states} of B×T×W and {@code mean} of B×W.
     *
     * @param layers of attention
     * @param width W
     */
    public static OnnxSketch encoder(int layers, long width) {
        OnnxSketch sketch =
                new OnnxSketch()
                        .input("ids", Type.INT64, -1, -1)
                        .weights("words", 1000, width)
                        .node("Gather", "words ids", "x0")
                        .add();
        for (int i = 0; i < layers; i++) {
            String x = "x" + i;
            for (String part : List.of("q", "k", "v")) {
                sketch.weights(part + i + "_w", width, width)
                        .node("MatMul", x + " " + part + i + "_w", part + i)
                        .add();
            }
            sketch.node("Transpose", "k" + i, "t" + i)
                    .with("perm", List.of(0L, 2L, 1L))
                    .add()
                    .node("MatMul", "q" + i + " t" + i, "s" + i)
                    .add()
                    .node("Softmax", "s" + i, "p" + i)
                    .with("axis", 2)
                    .add()
                    .node("MatMul", "p" + i + " v" + i, "o" + i)
                    .add()
                    .node("Add", x + " o" + i, "x" + (i + 1))
                    .add();
        }
        String last = "x" + layers;
        return sketch.node("Identity", last, "states")
                .add()
                .node("ReduceMean", last, "mean")
                .with("axes", List.of(1L))
                .with("keepdims", 0)
                .add()
                .output("states", Type.FLOAT, -1, -1, width)
                .output("mean", Type.FLOAT, -1, width);
    }

    /**
     * Encodes texts for DJL's translators: {@code input_ids} and {@code attention_mask} of B×T to
     * {@code last_hidden_state} of B×T×64.
     */
    public static OnnxSketch textEncoder() {
        return new OnnxSketch()
                .input("input_ids", Type.INT64, -1, -1)
                .input("attention_mask", Type.INT64, -1, -1)
                .weights("words", 1000, 64)
                .node("Gather", "words input_ids", "e")
                .add()
                .node("Cast", "attention_mask", "m")
                .with("to", Type.FLOAT.code)
                .add()
                .integers("axes", 2)
                .node("Unsqueeze", "m axes", "mask")
                .add()
                .node("Mul", "e mask", "x")
                .add()
                .weights("w", 64, 64)
                .node("MatMul", "x w", "h")
                .add()
                .node("Tanh", "h", "last_hidden_state")
                .add()
                .output("last_hidden_state", Type.FLOAT, -1, -1, 64);
    }

    /** Returns its input, strings of any number. */
    public static OnnxSketch strings() {
        return new OnnxSketch()
                .input("x", Type.STRING, -1)
                .node("Identity", "x", "y")
                .add()
                .output("y", Type.STRING, -1);
    }

    /** Adds random numbers, of a generator with a seed, to {@code x} of N. */
    public static OnnxSketch random() {
        return new OnnxSketch()
                .input("x", Type.FLOAT, -1)
                .node("RandomNormalLike", "x", "r")
                .with("seed", 7f)
                .add()
                .node("Add", "x r", "y")
                .add()
                .output("y", Type.FLOAT, -1);
    }

    /**
     * Repeats {@code x} of 1×1 and computes as many outputs.
     *
     * @param rows of 1,000 outputs
     */
    public static OnnxSketch wide(long rows) {
        return new OnnxSketch()
                .input("x", Type.FLOAT, 1, 1)
                .integers("shape", rows, 1000)
                .node("Expand", "x shape", "wide")
                .add()
                .node("Sigmoid", "wide", "y")
                .add()
                .output("y", Type.FLOAT, rows, 1000);
    }

    /** Looks up rows of a table, which the engine leaves as it is: {@code x} of N to N×64. */
    public static OnnxSketch table(long rows) {
        return new OnnxSketch()
                .input("x", Type.INT64, -1)
                .weights("words", rows, 64)
                .node("Gather", "words x", "y")
                .add()
                .output("y", Type.FLOAT, -1, 64);
    }

    /** Carries a state along: {@code sound} of 1×N and {@code before} of 1×64. */
    public static OnnxSketch recurrent() {
        return new OnnxSketch()
                .input("sound", Type.FLOAT, 1, -1)
                .input("before", Type.FLOAT, 1, 64)
                .node("ReduceMean", "sound", "m")
                .with("axes", List.of(1L))
                .with("keepdims", 1)
                .add()
                .weights("i_w", 1, 64)
                .node("MatMul", "m i_w", "i")
                .add()
                .weights("h_w", 64, 64)
                .node("MatMul", "before h_w", "h")
                .add()
                .node("Add", "i h", "z")
                .add()
                .node("Tanh", "z", "after")
                .add()
                .weights("s_w", 64, 1)
                .node("MatMul", "after s_w", "s")
                .add()
                .node("Sigmoid", "s", "speech")
                .add()
                .output("speech", Type.FLOAT, 1, 1)
                .output("after", Type.FLOAT, 1, 64);
    }

    /** One layer with many weights: {@code x} of N×1024 to {@code y} of N×1024. */
    public static OnnxSketch large() {
        return new OnnxSketch()
                .input("x", Type.FLOAT, -1, 1024)
                .weights("w", 1024, 1024)
                .node("MatMul", "x w", "y")
                .add()
                .output("y", Type.FLOAT, -1, 1024);
    }
}
