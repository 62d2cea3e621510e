package org.djlplan.memplan.internal.slicing;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.internal.budget.View;
import org.djlplan.memplan.internal.slicing.Layer.Size;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.internal.source.tflite.TfLiteBytes;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperator;
import org.djlplan.memplan.internal.source.tflite.TfLiteTensor;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.primitives.Ints;

/**
 * Replaces a large layer by several small ones (FlexNN 2024, section 4.2).
 *
 * <p>Each slice along output channels has its part of the weights, so that only that part must be
 * in memory. Each slice along rows has only the rows of the input that it needs, so that fewer
 * patches are copied from the input at a time:
 *
 * <pre>
 *   input ─► SLICE ─► PAD ─► CONV_2D ─┐
 *        └─► SLICE ─► PAD ─► CONV_2D ─┴─► CONCATENATION ─► output
 *            view                         view
 * </pre>
 *
 * <p>A SLICE of rows is a view of the input, and each slice of rows is a view of the output. Slices
 * of channels are views only if the output is 1×1; otherwise CONCATENATION copies them. If a layer
 * is sliced both ways, the weights of a slice of channels are used for all rows before the next
 * weights are used.
 */
public final class Slicer {

    /** Alignment of views in bytes: a cache line. */
    public static final int ALIGNMENT_BYTES = 64;

    private final TfLiteFile file;
    private final Map<Integer, Layer> layers;
    private final ModelEdit edit;
    private final List<View> views = new ArrayList<>();
    private final Set<Integer> placeable;

    /** A part of a constant. */
    private record Part(int tensor, int from, int count) {}

    private final Map<Part, Integer> parts = new HashMap<>();

    private Slicer(TfLiteFile file) {
        this.file = file;
        layers = Layer.all(file);
        edit = new ModelEdit(file);
        placeable = placeable(file);
    }

    /**
     * Returns a model with some layers sliced. The decisions should preserve bits: see {@link
     * SlicePlanner}, which makes such decisions.
     *
     * @param decisions at most one per operator
     * @throws IllegalArgumentException if an operator cannot be sliced, has two decisions, or its
     *     slices do not add up to its output
     */
    public static SlicedModel slice(TfLiteFile file, List<SliceDecision> decisions) {
        Map<Integer, SliceDecision> byOperator = new HashMap<>();
        for (SliceDecision decision : decisions) {
            SliceDecision other = byOperator.put(decision.operator(), decision);
            checkArgument(other == null, "two decisions for operator %s", decision.operator());
        }
        Slicer slicer = new Slicer(file);
        for (int i = 0; i < file.main().operators().size(); i++) {
            SliceDecision decision = byOperator.remove(i);
            if (decision == null || decision.count() == 1) {
                slicer.edit.addOperator(file.main().operators().get(i));
            } else {
                slicer.add(decision);
            }
        }
        checkArgument(byOperator.isEmpty(), "no such operators: %s", byOperator.keySet());
        return new SlicedModel(slicer.edit.build(), slicer.views);
    }

    /** Tensors whose memory is planned, so that views may lie there. */
    private static ImmutableSet<Integer> placeable(TfLiteFile file) {
        Set<Integer> callers = new HashSet<>(file.main().inputs());
        callers.addAll(file.main().outputs());
        return file.main().operators().stream()
                .flatMap(operator -> operator.presentOutputs().stream())
                .filter(id -> !callers.contains(id))
                .filter(id -> !file.main().tensors().get(id).isVariable())
                .collect(ImmutableSet.toImmutableSet());
    }

    private void add(SliceDecision decision) {
        int index = decision.operator();
        Layer layer = layers.get(index);
        checkArgument(layer != null, "operator %s cannot be sliced", index);
        checkArgument(
                sum(decision.channels()) == layer.out().channels()
                        && sum(decision.rows()) == layer.out().height(),
                "slices of operator %s do not add up: %s",
                index,
                decision);
        if (decision.rows().size() == 1) {
            addChannels(layer, decision.channels());
        } else {
            addGrid(layer, decision);
        }
    }

    private static long sum(List<Integer> sizes) {
        return sizes.stream().mapToLong(size -> size).sum();
    }

    private void addChannels(Layer layer, List<Integer> channels) {
        TfLiteOperator operator = file.main().operators().get(layer.operator());
        List<Integer> shape = edit.tensor(layer.output()).shape();
        List<Integer> slices = new ArrayList<>();
        int from = 0;
        for (int count : channels) {
            List<Integer> sliceShape = new ArrayList<>(shape);
            sliceShape.set(shape.size() - 1, count);
            int slice = edit.addTensor(sliceShape, name(layer.output(), slices.size()));
            edit.addOperator(
                    operator,
                    operator.builtinOptions(),
                    slice,
                    operands(operator, layer, layer.input(), from, count));
            slices.add(slice);
            from += count;
        }
        concatenate(slices, layer.output(), shape.size() - 1, layer.out().places() == 1);
    }

    private void addGrid(Layer layer, SliceDecision decision) {
        TfLiteOperator operator = file.main().operators().get(layer.operator());
        Optional<FlatTable> options =
                operator.builtinOptions().map(table -> table.with("padding", Layer.VALID));
        List<List<Integer>> blocks = new ArrayList<>();
        decision.rows().forEach(rows -> blocks.add(new ArrayList<>()));
        int from = 0;
        for (int count : decision.channels()) {
            int begin = 0;
            for (int i = 0; i < decision.rows().size(); i++) {
                int rows = decision.rows().get(i);
                List<Integer> shape = List.of(1, rows, layer.out().width(), count);
                int block = edit.addTensor(shape, name(layer.output(), begin + "/" + from));
                int padded = padded(layer, inputSlice(layer, begin, rows), begin, rows);
                edit.addOperator(
                        operator, options, block, operands(operator, layer, padded, from, count));
                blocks.get(i).add(block);
                begin += rows;
            }
            from += count;
        }
        List<Integer> whole = new ArrayList<>();
        for (int i = 0; i < blocks.size(); i++) {
            List<Integer> shape =
                    List.of(1, decision.rows().get(i), layer.out().width(), layer.out().channels());
            whole.add(joined(blocks.get(i), shape, name(layer.output(), "rows" + i)));
        }
        concatenate(whole, layer.output(), 1, true);
    }

    private int joined(List<Integer> blocks, List<Integer> shape, String name) {
        if (blocks.size() == 1) {
            return blocks.get(0);
        }
        int row = edit.addTensor(shape, name);
        concatenate(blocks, row, 3, false);
        return row;
    }

    /** Adds the rows of the input that a slice of rows needs, without padding. */
    private int inputSlice(Layer layer, int beginRow, int rows) {
        Size in = layer.in();
        int first = Math.max(0, layer.firstInputRow(beginRow));
        int end = Math.min(in.height(), endInputRow(layer, beginRow, rows));
        List<Integer> shape = List.of(1, end - first, in.width(), in.channels());
        String name = name(layer.input(), "slice" + edit.operatorCount());
        int slice = edit.addTensor(shape, name);
        edit.addOperator(
                "SLICE",
                FlatTable.of("SliceOptions"),
                slice,
                layer.input(),
                edit.addInts(List.of(4), name + "/begin", 0, first, 0, 0),
                edit.addInts(List.of(4), name + "/size", Ints.toArray(shape)));
        long offsetBytes = first * in.rowBytes();
        if (placeable.contains(layer.input()) && offsetBytes % ALIGNMENT_BYTES == 0) {
            views.add(new View(slice, layer.input(), offsetBytes));
        }
        return slice;
    }

    private static int endInputRow(Layer layer, int beginRow, int rows) {
        return layer.firstInputRow(beginRow + rows - 1) + layer.window().height();
    }

    /** Adds the padding around a slice of the input. */
    private int padded(Layer layer, int slice, int beginRow, int rows) {
        Size in = layer.in();
        int above = Math.max(0, -layer.firstInputRow(beginRow));
        int below = Math.max(0, endInputRow(layer, beginRow, rows) - in.height());
        int left = layer.paddingLeft();
        int right = layer.paddingRight();
        if (above + below + left + right == 0) {
            return slice;
        }
        List<Integer> shape =
                List.of(
                        1,
                        edit.tensor(slice).shape().get(1) + above + below,
                        left + in.width() + right,
                        in.channels());
        String name = name(slice, "padded" + edit.operatorCount());
        int padded = edit.addTensor(shape, name);
        int paddings =
                edit.addInts(List.of(4, 2), name + "/by", 0, 0, above, below, left, right, 0, 0);
        edit.addOperator("PAD", FlatTable.of("PadOptions"), padded, slice, paddings);
        return padded;
    }

    /** Returns the operands of a slice, with the weights of some output channels. */
    private List<Integer> operands(
            TfLiteOperator operator, Layer layer, int input, int from, int count) {
        ImmutableList.Builder<Integer> operands = ImmutableList.builder();
        operands.add(input).add(part(layer.filter(), from, count));
        if (operator.inputs().size() == 3) {
            boolean biased = layer.bias() != TfLiteOperator.ABSENT;
            operands.add(biased ? part(layer.bias(), from, count) : TfLiteOperator.ABSENT);
        }
        return operands.build();
    }

    /**
     * Returns the part of a constant for some output channels; operators that share the constant
     * share the part.
     */
    private int part(int constant, int from, int count) {
        TfLiteTensor whole = edit.tensor(constant);
        if (count == whole.shape().get(0)) {
            return constant;
        }
        return parts.computeIfAbsent(
                new Part(constant, from, count),
                key -> {
                    TfLiteBytes content = file.buffers().get(whole.buffer());
                    int channelBytes = content.sizeBytes() / whole.shape().get(0);
                    List<Integer> shape = new ArrayList<>(whole.shape());
                    shape.set(0, count);
                    return edit.addConstant(
                            shape,
                            name(constant, from),
                            content.slice(from * channelBytes, count * channelBytes));
                });
    }

    /**
     * Adds the operator that joins slices.
     *
     * @param contiguous whether each slice is a contiguous part of the whole
     */
    private void concatenate(List<Integer> slices, int whole, int axis, boolean contiguous) {
        FlatTable options = FlatTable.of("ConcatenationOptions").with("axis", axis);
        edit.addOperator("CONCATENATION", options, whole, Ints.toArray(slices));
        List<View> inside = new ArrayList<>();
        long offsetBytes = 0;
        boolean aligned = true;
        for (int slice : slices) {
            inside.add(new View(slice, whole, offsetBytes));
            aligned &= offsetBytes % ALIGNMENT_BYTES == 0;
            offsetBytes += edit.tensor(slice).sizeBytes();
        }
        if (contiguous && aligned && placeable.contains(whole)) {
            views.addAll(inside);
        }
    }

    private String name(int tensor, Object part) {
        return edit.tensor(tensor).name() + "/" + part;
    }
}
