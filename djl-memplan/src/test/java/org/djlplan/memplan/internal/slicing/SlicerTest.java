package org.djlplan.memplan.internal.slicing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.internal.budget.View;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.internal.source.tflite.TfLiteBytes;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperator;
import org.djlplan.memplan.internal.source.tflite.TfLiteTensor;
import org.junit.jupiter.api.Test;

/**
 * Tests the structure of sliced graphs. {@code SlicerBitsTest} compares the outputs of sliced and
 * whole graphs in the engine.
 */
class SlicerTest {

    private static final int LAYER = 1;

    private final TestModel model = new TestModel();

    /** A copy of the input, a 3 × 3 convolution of 8 × 8 places, a copy of its output. */
    private TfLiteFile convolution() {
        int x = model.copy(model.input(1, 8, 8, 16));
        int y =
                model.convolution(
                        x,
                        model.constant(32, 3, 3, 16),
                        model.constant(32),
                        model.tensor(1, 8, 8, 32));
        return model.output(model.copy(y)).build();
    }

    private static SlicedModel slice(TfLiteFile file, List<Integer> channels, List<Integer> rows) {
        return Slicer.slice(file, List.of(new SliceDecision(LAYER, channels, rows)));
    }

    private static List<String> operators(TfLiteFile file) {
        return file.main().operators().stream()
                .map(operator -> file.codeOf(operator).name())
                .toList();
    }

    private static TfLiteBytes content(TfLiteFile file, int tensor) {
        return file.buffers().get(file.main().tensors().get(tensor).buffer());
    }

    @Test
    void slice_alongRows_makesViewsOfInputAndOutput() {
        TfLiteFile file = convolution();
        SlicedModel sliced = slice(file, List.of(32), List.of(4, 3, 1));
        assertEquals(
                List.of(
                        "ABS",
                        "SLICE",
                        "PAD",
                        "CONV_2D",
                        "SLICE",
                        "PAD",
                        "CONV_2D",
                        "SLICE",
                        "PAD",
                        "CONV_2D",
                        "CONCATENATION",
                        "ABS"),
                operators(sliced.file()));
        int x = file.main().operators().get(LAYER).inputs().get(0);
        int y = file.main().operators().get(LAYER).outputs().get(0);
        Map<Integer, Long> inInput = new HashMap<>();
        Map<Integer, Long> inOutput = new HashMap<>();
        for (View view : sliced.views()) {
            (view.of() == x ? inInput : inOutput).put(view.tensor(), view.offsetBytes());
            assertTrue(view.of() == x || view.of() == y, view.toString());
        }
        int inputRow = 8 * 16 * Float.BYTES;
        int outputRow = 8 * 32 * Float.BYTES;
        assertEquals(
                List.of(0L, 3L * inputRow, 6L * inputRow),
                inInput.values().stream().sorted().toList());
        assertEquals(
                List.of(0L, 4L * outputRow, 7L * outputRow),
                inOutput.values().stream().sorted().toList());
        List<TfLiteTensor> tensors = sliced.file().main().tensors();
        assertEquals(
                List.of(List.of(1, 5, 8, 16), List.of(1, 5, 8, 16), List.of(1, 2, 8, 16)),
                inInput.keySet().stream()
                        .sorted()
                        .map(tensors::get)
                        .map(TfLiteTensor::shape)
                        .toList());
    }

    @Test
    void slice_vector_makesViews() {
        int x = model.copy(model.input(1, 100));
        int y = model.connected(x, model.constant(48, 100), model.tensor(1, 48));
        TfLiteFile file = model.output(model.copy(y)).build();
        SlicedModel sliced = slice(file, List.of(16, 32), List.of(1));
        assertEquals(List.of(0L, 64L), sliced.views().stream().map(View::offsetBytes).toList());
        assertEquals(List.of(), slice(file, List.of(8, 40), List.of(1)).views(), "not aligned");
        assertEquals(
                TfLiteOperator.ABSENT, sliced.file().main().operators().get(1).inputs().get(2));
    }

    /** The engine decides where the caller's tensors lie. */
    @Test
    void slice_inputAndOutputOfTheModel_areNotViewed() {
        int x = model.input(1, 8, 8, 16);
        int y =
                model.convolution(
                        x,
                        model.constant(32, 3, 3, 16),
                        model.constant(32),
                        model.tensor(1, 8, 8, 32));
        TfLiteFile file = model.output(y).build();
        SlicedModel sliced =
                Slicer.slice(file, List.of(new SliceDecision(0, List.of(32), List.of(4, 4))));
        assertEquals(List.of(), sliced.views());
    }

    @Test
    void slice_weightsThatAreAnOutput_stayWhole() {
        int x = model.copy(model.input(1, 32));
        int weights = model.constant(32, 32);
        int y = model.connected(x, weights, model.tensor(1, 32));
        TfLiteFile file = model.output(model.copy(y), weights).build();
        TfLiteFile sliced = slice(file, List.of(16, 16), List.of(1)).file();
        assertEquals(content(file, weights), content(sliced, weights));
    }

    @Test
    void sliceable_otherLayers_areNot() {
        int x = model.copy(model.input(1, 8, 8, 16));
        int bias = model.constant(32);
        FlatTable plain = TestModel.convolutionOptions();
        // Grouped: each output sees half of the input's channels.
        layer(plain, x, model.constant(32, 3, 3, 8), bias, 1, 8, 8, 32);
        layer(plain.with("dilation_h_factor", 2), x, weights(), bias, 1, 8, 8, 32);
        layer(plain.with("padding", 7), x, weights(), bias, 1, 8, 8, 32);
        layer(plain.with("stride_h", 0), x, weights(), bias, 1, 8, 8, 32);
        layer(FlatTable.of("Pool2DOptions"), x, weights(), bias, 1, 8, 8, 32);
        // Sizes that do not fit.
        layer(plain, x, weights(), bias, 1, 8, 9, 32);
        layer(plain.with("padding", 1), x, weights(), bias, 1, 8, 8, 32);
        layer(plain, x, weights(), model.constant(31), 1, 8, 8, 32);
        // Weights that are computed, or packed.
        layer(plain, x, model.copy(weights()), bias, 1, 8, 8, 32);
        layer(plain, x, packed(), bias, 1, 8, 8, 32);
        // Several images.
        int images = model.copy(model.input(2, 8, 8, 16));
        layer(plain, images, weights(), bias, 2, 8, 8, 32);
        int vectors = model.copy(model.input(2, 100));
        model.connected(vectors, model.constant(48, 100), model.tensor(2, 48));
        model.operator(
                "DEPTHWISE_CONV_2D",
                Optional.of(FlatTable.of("DepthwiseConv2DOptions")),
                model.tensor(1, 8, 8, 16),
                x,
                model.constant(1, 3, 3, 16),
                model.constant(16));
        assertEquals(Set.of(), Layer.all(model.build()).keySet());
    }

    @Test
    void sliceable_sizeThatTheCallerMayChange_isNot() {
        assertEquals(Set.of(LAYER), Layer.all(withSignature(List.of(-1, 8, 8, 16))).keySet());
        assertEquals(Set.of(), Layer.all(withSignature(List.of(1, -1, -1, 16))).keySet());
    }

    private static TfLiteFile withSignature(List<Integer> signature) {
        TestModel model = new TestModel();
        int input = model.input(1, 8, 8, 16);
        int x =
                model.add(
                        new TfLiteTensor(
                                List.of(1, 8, 8, 16),
                                signature,
                                TfLiteTensor.FLOAT32,
                                0,
                                "x",
                                Optional.empty(),
                                false,
                                Optional.empty(),
                                false));
        model.operator("ABS", Optional.empty(), x, input);
        int y =
                model.convolution(
                        x,
                        model.constant(32, 3, 3, 16),
                        model.constant(32),
                        model.tensor(1, 8, 8, 32));
        return model.output(model.copy(y)).build();
    }

    /** A computed shape may differ from the one in the file. */
    @Test
    void sliceable_behindAComputedShape_isNot() {
        int x = model.input(1, 32);
        int shape = model.add(TfLiteTensor.plain(List.of(2), TfLiteTensor.INT32, 0, "shape"));
        model.operator(
                "SHAPE", Optional.of(FlatTable.of("ShapeOptions")), shape, model.input(1, 32));
        int y =
                model.operator(
                        "RESHAPE",
                        Optional.of(FlatTable.of("ReshapeOptions")),
                        model.tensor(1, 32),
                        x,
                        shape);
        y = model.connected(y, model.constant(32, 32), model.tensor(1, 32));
        assertEquals(Set.of(), Layer.all(model.output(y).build()).keySet());
    }

    private int weights() {
        return model.constant(32, 3, 3, 16);
    }

    private int packed() {
        return model.constant(TestModel.INT8, ByteBuffer.allocate(32 * 9 * 16), 32, 3, 3, 16);
    }

    private void layer(FlatTable options, int x, int weights, int bias, int... shape) {
        model.operator("CONV_2D", Optional.of(options), model.tensor(shape), x, weights, bias);
    }
}
