package org.djlplan.integration.tflite.hostile;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.ToIntFunction;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.thirdparty.guava.primitives.Ints;

/** Makes models of one operator each, with values of their inputs. */
class OperatorFiles {

    static final List<String> POOLS = List.of("MAX_POOL_2D", "AVERAGE_POOL_2D", "L2_POOL_2D");

    static final List<String> RESIZES = List.of("RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR");

    static final FlatTable CONVOLUTION = options("Conv2DOptions", "stride_w", 1, "stride_h", 1);

    static final FlatTable DEPTHWISE =
            options("DepthwiseConv2DOptions", "stride_w", 1, "stride_h", 1)
                    .with("depth_multiplier", 1);

    static final FlatTable POOL =
            options("Pool2DOptions", "stride_w", 1, "stride_h", 1)
                    .with("filter_width", 2)
                    .with("filter_height", 2);

    final List<CraftedFile> files = new ArrayList<>();

    /** Adds a tensor to a model, and its value if it is an input, and returns its id. */
    interface Operand extends ToIntFunction<CraftedFile> {}

    /** A constant of integers. */
    record Numbers(Form form, int... values) implements Operand {

        @Override
        public int applyAsInt(CraftedFile file) {
            return file.model().constant(form, content(values));
        }
    }

    static Form floats(int... shape) {
        return Form.of(ElementType.FLOAT32, shape);
    }

    static Form ints(int... shape) {
        return Form.of(ElementType.INT32, shape);
    }

    static FlatTable options(String type, Object... fields) {
        FlatTable table = FlatTable.of(type);
        for (int i = 0; i < fields.length; i += 2) {
            table = table.with((String) fields[i], fields[i + 1]);
        }
        return table;
    }

    static ByteBuffer content(int... values) {
        ByteBuffer content =
                ByteBuffer.allocate(Integer.BYTES * values.length).order(ByteOrder.LITTLE_ENDIAN);
        content.asIntBuffer().put(values);
        return content;
    }

    static ByteBuffer random(Form form) {
        Random random = new Random(1);
        ByteBuffer content = ByteBuffer.allocate(form.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        while (content.remaining() >= Float.BYTES && form.type() == ElementType.FLOAT32) {
            content.putFloat(random.nextFloat());
        }
        while (content.hasRemaining()) {
            content.put((byte) (form.type() == ElementType.INT32 ? 0 : random.nextInt(8)));
        }
        return content.rewind();
    }

    static Operand data(Form form) {
        return input(form, form.shape(), random(form));
    }

    /** An input that may have another shape than in the file. */
    static Operand input(Form form, List<Integer> shape, ByteBuffer value) {
        return file -> {
            file.inputs().add(value);
            file.shapes().add(shape);
            return file.model().input(form);
        };
    }

    static Operand input(Form form, int... values) {
        return input(form, form.shape(), content(values));
    }

    static Operand constant(Form form) {
        return constant(form, random(form));
    }

    static Operand constant(Form form, ByteBuffer value) {
        return file -> file.model().constant(form, value);
    }

    static Operand numbers(Form form, int... values) {
        return new Numbers(form, values);
    }

    static Operand result(Form form) {
        return file -> file.model().tensor(form);
    }

    void add(String name, String operator, FlatTable options, Form out, Operand... operands) {
        add(name, operator, options, List.of(result(out)), operands);
    }

    void add(
            String name,
            String operator,
            FlatTable options,
            List<Operand> results,
            Operand... operands) {
        CraftedFile file = new CraftedFile(operator + " " + name);
        int[] ids = new int[operands.length];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = operands[i].applyAsInt(file);
        }
        List<Integer> out = results.stream().map(each -> each.applyAsInt(file)).toList();
        file.model().operator(operator, Optional.ofNullable(options), out, ids);
        file.model().output(Ints.toArray(out));
        files.add(file);
    }
}
