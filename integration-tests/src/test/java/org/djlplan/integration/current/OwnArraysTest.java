package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.inference.Predictor;
import ai.djl.modality.Classifications;
import ai.djl.modality.cv.Image;
import ai.djl.modality.cv.ImageFactory;
import ai.djl.modality.cv.transform.CenterCrop;
import ai.djl.modality.cv.transform.Normalize;
import ai.djl.modality.cv.transform.Resize;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.modality.cv.translator.ImageClassificationTranslator;
import ai.djl.modality.cv.util.NDImageUtils;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDScope;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.translate.Batchifier;
import ai.djl.translate.NoopTranslator;
import ai.djl.translate.Pipeline;
import java.awt.Color;
import java.awt.image.BufferedImage;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.djlplan.integration.support.TestModels;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests arrays of djl-plan's engine: their results are the same with and without another engine.
 */
@Tag("djl-current")
class OwnArraysTest {

    private NDManager manager;

    @BeforeEach
    void open() {
        manager = NDManager.newBaseManager(Device.cpu(), "TFLite");
    }

    @AfterEach
    void close() {
        manager.close();
    }

    private NDArray counted(long... shape) {
        int count = (int) new Shape(shape).size();
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = i;
        }
        return manager.create(values, new Shape(shape));
    }

    private static void assertValues(NDArray array, Shape shape, double... values) {
        assertEquals(shape, array.getShape());
        Number[] found = array.toType(DataType.FLOAT64, false).toArray();
        double[] numbers =
                IntStream.range(0, found.length).mapToDouble(i -> found[i].doubleValue()).toArray();
        assertArrayEquals(values, numbers, 1e-6);
    }

    @Test
    void create_directBuffer_isNotCopied() {
        ByteBuffer given = manager.allocateDirect(8);
        NDArray array = manager.create(given, new Shape(2), DataType.FLOAT32);
        given.putFloat(4, 5);
        assertArrayEquals(new float[] {0, 5}, array.toFloatArray());
    }

    @Test
    void create_heapBuffer_isCopied() {
        FloatBuffer given = FloatBuffer.wrap(new float[] {1, 2});
        NDArray array = manager.create(given, new Shape(2), DataType.FLOAT32);
        given.put(0, 7);
        assertArrayEquals(new float[] {1, 2}, array.toFloatArray());
    }

    @Test
    void create_ofNumbersAndRanges() {
        assertValues(manager.full(new Shape(2), 3, DataType.INT64), new Shape(2), 3, 3);
        assertValues(manager.zeros(new Shape(2), DataType.UINT8), new Shape(2), 0, 0);
        assertValues(manager.arange(1, 3, 0.5f), new Shape(4), 1, 1.5, 2, 2.5);
        assertValues(manager.arange(3), new Shape(3), 0, 1, 2);
        assertValues(manager.eye(2), new Shape(2, 2), 1, 0, 0, 1);
        assertValues(manager.linspace(0, 1, 3), new Shape(3), 0, 0.5, 1);
        assertValues(manager.create(7), new Shape(), 7);
        assertValues(manager.create(new boolean[] {true, false}), new Shape(2), 1, 0);
    }

    @Test
    void randomUniform_needsAnotherEngine() {
        if (Engine.hasEngine("PyTorch")) {
            NDArray random = manager.randomUniform(1, 2, new Shape(9));
            assertTrue(random.min().getFloat() >= 1 && random.max().getFloat() <= 2);
        } else {
            assertThrows(
                    UnsupportedOperationException.class,
                    () -> manager.randomUniform(1, 2, new Shape(9)));
        }
    }

    @Test
    void reshape_sharesTheMemory() {
        NDArray array = counted(2, 3);
        NDArray other = array.reshape(3, -1);
        array.set(new float[] {9, 8, 7, 6, 5, 4});
        assertValues(other, new Shape(3, 2), 9, 8, 7, 6, 5, 4);
        assertEquals(new Shape(1, 2, 3), array.expandDims(0).getShape());
        assertEquals(new Shape(2, 3, 1), array.expandDims(-1).getShape());
        assertEquals(new Shape(2, 3), array.expandDims(1).squeeze(1).getShape());
        assertEquals(new Shape(2, 3), array.expandDims(0).expandDims(-1).squeeze().getShape());
        assertEquals(new Shape(6), array.flatten().getShape());
        assertThrows(IllegalArgumentException.class, () -> array.reshape(4, 2));
    }

    @Test
    void batchify_thereAndBack() {
        NDList[] samples = {new NDList(counted(2)), new NDList(counted(2).add(5))};
        NDList batch = Batchifier.STACK.batchify(samples);
        assertValues(batch.singletonOrThrow(), new Shape(2, 2), 0, 1, 5, 6);
        NDList[] back = Batchifier.STACK.unbatchify(batch);
        assertEquals(2, back.length);
        assertValues(back[1].singletonOrThrow().squeeze(), new Shape(2), 5, 6);
    }

    @Test
    void arithmetic() {
        NDArray array = counted(4);
        assertValues(array.add(1).mul(2).sub(4).div(2), new Shape(4), -1, 0, 1, 2);
        assertValues(array.mul(array).sqrt(), new Shape(4), 0, 1, 2, 3);
        assertValues(array.clip(1, 2), new Shape(4), 1, 1, 2, 2);
        assertValues(counted(1).exp(), new Shape(1), 1);
        NDArray whole = array.toType(DataType.INT32, false);
        assertEquals(DataType.INT32, whole.add(1).getDataType());
        assertEquals(DataType.FLOAT64, whole.add(1.0).getDataType());
        assertValues(whole.div(2), new Shape(4), 0, 0.5, 1, 1.5);
        NDArray own = counted(2).addi(1).muli(counted(2).add(2)).divi(2).subi(counted(2));
        assertValues(own, new Shape(2), 1, 2);
        NDArray rows = counted(2, 2);
        assertValues(rows.sub(manager.create(new float[] {0, 1})), new Shape(2, 2), 0, 0, 2, 2);
        assertValues(rows.sum(new int[] {0}), new Shape(2), 2, 4);
        assertValues(rows.max(new int[] {-1}, true), new Shape(2, 1), 1, 3);
        assertValues(rows.max(), new Shape(), 3);
        assertValues(rows.argMax(1), new Shape(2), 1, 1);
        assertValues(rows.mul(0).softmax(-1), new Shape(2, 2), 0.5, 0.5, 0.5, 0.5);
    }

    /**
     * Asserts that a call is computed if PyTorch is present, and otherwise rejected with the
     * dependency's name.
     */
    private static void assertComputed(Runnable check) {
        if (Engine.hasEngine("PyTorch")) {
            check.run();
        } else {
            Exception e = assertThrows(UnsupportedOperationException.class, check::run);
            assertTrue(e.getMessage().contains("ai.djl.pytorch:pytorch-engine"), e::getMessage);
        }
    }

    @Test
    void otherArithmetic_needsAnotherEngine() {
        NDArray array = counted(4);
        assertComputed(() -> assertValues(array.neg().abs(), new Shape(4), 0, 1, 2, 3));
        assertComputed(() -> assertValues(array.mean(), new Shape(), 1.5));
        assertComputed(
                () ->
                        assertValues(
                                array.gt(1).toType(DataType.FLOAT32, false),
                                new Shape(4),
                                0,
                                0,
                                1,
                                1));
        assertComputed(
                () ->
                        assertValues(
                                NDArrays.where(array.gt(1), array, array.mul(9)),
                                new Shape(4),
                                0,
                                9,
                                2,
                                3));
    }

    @Test
    void toType_outOfRange_isTheNearestNumber() {
        NDArray array = manager.create(new double[] {3e9, -3e9, Double.NaN, -1, 1e300});
        assertArrayEquals(
                new int[] {Integer.MAX_VALUE, Integer.MIN_VALUE, 0, -1, Integer.MAX_VALUE},
                array.toType(DataType.INT32, false).toIntArray());
        assertArrayEquals(
                new int[] {255, 0, 0, 0, 255}, array.toType(DataType.UINT8, false).toUint8Array());
        assertArrayEquals(
                new byte[] {127, -128, 0, -1, 127},
                array.toType(DataType.INT8, false).toByteArray());
        assertEquals(Long.MAX_VALUE, array.toType(DataType.INT64, false).toLongArray()[4]);
        NDArray fractions = manager.create(new float[] {-1.7f, 1.7f, 200});
        assertValues(fractions.toType(DataType.INT32, false), new Shape(3), -1, 1, 200);
        assertValues(fractions.toType(DataType.BOOLEAN, false), new Shape(3), 1, 1, 1);
        assertEquals(200, fractions.toType(DataType.UINT8, false).toUint8Array()[2]);
        NDArray half = manager.create(new float[] {1 + 0x1p-11f, 1 + 3 * 0x1p-11f, 65520});
        assertValues(
                half.toType(DataType.FLOAT16, false),
                new Shape(3),
                1,
                1 + 0x1p-9,
                Double.POSITIVE_INFINITY);
    }

    @Test
    void get_arraysOfIndices_areRows() {
        NDArray rows = counted(3, 2);
        NDArray places = manager.create(new int[] {2, 0});
        assertComputed(
                () ->
                        assertValues(
                                rows.get(new NDIndex("{}", places)), new Shape(2, 2), 4, 5, 0, 1));
        NDArray columns = manager.create(new long[] {1, 1});
        assertComputed(
                () ->
                        assertValues(
                                rows.get(new NDIndex(":, {}", columns)),
                                new Shape(3, 2),
                                1,
                                1,
                                3,
                                3,
                                5,
                                5));
    }

    @Test
    void moves_axesAndIndices_giveTheseElements() {
        NDArray array = counted(2, 3, 2);
        assertValues(array.get(1, 2), new Shape(2), 10, 11);
        assertValues(array.get("..., -1"), new Shape(2, 3), 1, 3, 5, 7, 9, 11);
        assertValues(array.get("1, ::2"), new Shape(2, 2), 6, 7, 10, 11);
        assertEquals(new Shape(2, 3, 2, 1), array.get("..., null").getShape());
        assertValues(array.flatten(0, -2).get("2:4"), new Shape(2, 2), 4, 5, 6, 7);
        assertEquals(new Shape(1), manager.create(7f).flatten(0, 0).getShape());
        assertEquals(array.getShape(), array.squeeze(1).getShape());
        assertEquals(array, array.transpose(2, 0, 1).transpose(1, 2, 0));
        assertValues(counted(2, 2).flip(0, 1), new Shape(2, 2), 3, 2, 1, 0);
        assertValues(counted(4, 1).split(2).get(1), new Shape(2, 1), 2, 3);
        assertValues(counted(1, 4).split(new long[] {1, 3}, 1).get(1), new Shape(1, 2), 1, 2);
        NDList two = new NDList(counted(2, 1), counted(2, 1).add(5));
        assertValues(NDArrays.stack(two, 2), new Shape(2, 1, 2), 0, 5, 1, 6);
        assertValues(NDArrays.concat(two, 1), new Shape(2, 2), 0, 5, 1, 6);
        NDArray wide = counted(2, 1).transpose().broadcast(3, -1);
        assertValues(wide.reshape(6), new Shape(6), 0, 1, 0, 1, 0, 1);
        assertThrows(UnsupportedOperationException.class, () -> wide.addi(1));
        counted(2, 2).copyTo(array.get("0, :2"));
        assertValues(array.get("0"), new Shape(3, 2), 0, 1, 2, 3, 4, 5);
    }

    /** A call on an array of shape (2, 3), and what the message of its refusal says. */
    private record Refused(Consumer<NDArray> call, String message) {}

    @Test
    void calls_wrongArguments_areRefusedAndSayWhy() {
        NDArray flat = counted(6);
        NDArray place = manager.create(new int[] {0});
        List.of(
                        new Refused(a -> a.flatten(1, 0), "axes 1 to 0"),
                        new Refused(a -> a.flatten(0, 2), "axis 2 of 2"),
                        new Refused(a -> a.flip(0, -2), "an axis twice: [0, -2]"),
                        new Refused(a -> a.transpose(0, 0), "axes [0, 0] of an array"),
                        new Refused(a -> a.transpose(0), "axes [0] of an array"),
                        new Refused(a -> a.swapAxes(0, -3), "axis -3 of 2"),
                        new Refused(a -> a.squeeze(new int[] {0}), "has no length of 1"),
                        new Refused(a -> a.reshape(-1, -1), "two open dimensions"),
                        new Refused(a -> a.reshape(0, -1), "an array of shape (2, 3)"),
                        new Refused(a -> a.reshape(4, -1), "an array of shape (2, 3)"),
                        new Refused(a -> a.broadcast(3), "cannot be broadcast"),
                        new Refused(a -> a.broadcast(4, 3), "cannot be broadcast"),
                        new Refused(a -> a.broadcast(-1, 2, 3), "cannot be broadcast"),
                        new Refused(a -> a.split(0), "2 in 0 equal parts"),
                        new Refused(a -> a.split(2, 1), "3 in 2 equal parts"),
                        new Refused(a -> a.split(new long[] {2, 1}), "2 at [2, 1]"),
                        new Refused(a -> a.split(new long[] {3}), "2 at [3]"),
                        new Refused(a -> a.concat(flat), "joined"),
                        new Refused(a -> a.concat(counted(2, 2)), "joined"),
                        new Refused(a -> a.stack(flat), "stacked"),
                        new Refused(a -> a.get("-3"), "index -3 of 2"),
                        new Refused(a -> a.get("0, 0, 0"), "an index of 3 dimensions"),
                        new Refused(a -> a.get("::-1"), "a slice in steps of -1"),
                        new Refused(a -> a.addi(counted(4, 2, 3)), "a result of type float32"),
                        new Refused(a -> a.toType(DataType.INT32, false).divi(2), "a result of"),
                        new Refused(a -> a.copyTo(flat), "into one of float32 and shape (6)"),
                        new Refused(a -> a.copyTo(a.toType(DataType.INT8, false)), "of int8"),
                        new Refused(
                                a -> a.setScalar(new NDIndex("0"), 7), "not that of one element"),
                        new Refused(
                                a -> a.setScalar(new NDIndex("{}", place), 7),
                                "not that of one element"),
                        new Refused(a -> a.toStringArray(), "no strings: float32"),
                        new Refused(a -> a.toType(DataType.COMPLEX64, false), "of type complex64"),
                        new Refused(a -> a.toType(DataType.UNKNOWN, false), "of type unknown"))
                .forEach(this::assertRefused);
    }

    private void assertRefused(Refused refused) {
        NDArray array = counted(2, 3);
        Exception e = assertThrows(RuntimeException.class, () -> refused.call.accept(array));
        assertTrue(e.getMessage().contains(refused.message), e::toString);
        assertValues(array, new Shape(2, 3), 0, 1, 2, 3, 4, 5);
    }

    @Test
    void contentEquals_otherTypeShapeOrNumbers_isFalse() {
        NDArray array = manager.create(new float[] {0, 1});
        assertTrue(array.contentEquals(manager.create(new float[] {-0f, 1})));
        assertFalse(array.contentEquals((NDArray) null));
        assertFalse(array.contentEquals(manager.create(new float[] {0, 1, 2})));
        assertFalse(array.contentEquals(manager.create(new int[] {0, 1})));
        assertFalse(array.contentEquals(manager.create(new float[] {0, 2})));
        NDArray notANumber = manager.create(Float.NaN);
        assertFalse(notANumber.contentEquals(notANumber.duplicate()));
    }

    @Test
    void concat_typesThatDiffer_holdsTheNumbersOfBoth() {
        NDArray flags = manager.create(new boolean[] {true});
        NDArray bytes = manager.create(new byte[] {1});
        NDArray pixels = bytes.toType(DataType.UINT8, false);
        NDArray whole = manager.create(new int[] {300});
        NDArray halves = manager.create(new float[] {0.5f}).toType(DataType.FLOAT16, false);
        assertEquals(DataType.INT8, flags.concat(bytes).getDataType());
        assertEquals(DataType.INT16, pixels.concat(bytes).getDataType());
        assertEquals(DataType.INT32, pixels.concat(whole).getDataType());
        assertEquals(DataType.FLOAT16, halves.concat(whole).getDataType());
        assertValues(manager.create(2.5).reshape(1).concat(halves), new Shape(2), 2.5, 0.5);
    }

    @Test
    void numbers_ofEachTypeOrNone_answerAsPyTorch() {
        NDArray flags = manager.create(new boolean[] {true, true});
        assertValues(flags.sum(), new Shape(), 2);
        assertEquals(DataType.INT64, flags.sum().getDataType());
        NDArray none = manager.zeros(new Shape(2, 0));
        assertValues(none.sum(new int[] {1}), new Shape(2), 0, 0);
        assertEquals(none.getShape(), none.softmax(1).getShape());
        NDArray whole = counted(2, 2).toType(DataType.INT32, false);
        assertValues(whole.argMax(0), new Shape(2), 1, 1);
        assertComputed(() -> assertValues(whole.clip(1, 2), new Shape(2, 2), 1, 1, 2, 2));
        NDArray notANumber = manager.create(new float[] {1, Float.NaN, 3});
        assertEquals(1, notANumber.argMax().getLong());
        assertEquals(Float.NaN, notANumber.max().getFloat());
        long exact = (1L << 60) + 1;
        NDArray large = manager.create(new long[] {exact, 5, exact - 1});
        assertEquals(exact + 1, large.add(1).toLongArray()[0]);
        assertEquals(2 * exact + 4, large.sum().getLong());
        assertEquals(0, large.argMax().getLong());
        NDArray half = manager.create(0.5f).toType(DataType.FLOAT16, false);
        assertComputed(() -> assertValues(half.add(1), new Shape(), 1.5));
        assertThrows(RuntimeException.class, () -> whole.softmax(0));
        assertThrows(RuntimeException.class, () -> whole.sum(new int[] {0, -2}));
    }

    @Test
    void set_maskOrPick_setsTheseElements() {
        NDArray array = counted(3);
        NDArray mask = manager.create(new boolean[] {true, false, true});
        assertComputed(() -> array.set(mask, 9));
        assertComputed(() -> assertValues(array.get(mask), new Shape(2), 9, 9));
        NDArray places = manager.create(new int[] {2, 0}, new Shape(2, 1));
        NDIndex pick = new NDIndex(":").addPickDim(places);
        assertComputed(() -> assertValues(counted(2, 3).get(pick), new Shape(2, 1), 2, 3));
    }

    @Test
    void slices_endWhereTheArrayDoes() {
        NDArray array = counted(3);
        assertValues(array.get("1:9"), new Shape(2), 1, 2);
        assertValues(array.get("-9:2"), new Shape(2), 0, 1);
        assertValues(array.get("5:9"), new Shape(0));
        assertThrows(IllegalArgumentException.class, () -> array.get("3"));
    }

    @Test
    void largestOfNothing_isRefused() {
        NDArray empty = manager.create(new Shape(0));
        assertThrows(RuntimeException.class, empty::max);
        assertThrows(RuntimeException.class, empty::argMax);
    }

    @Test
    void typesThatPyTorchDoesNotHave_areRefused() {
        NDArray array = counted(2).toType(DataType.INT16, false);
        assertThrows(UnsupportedOperationException.class, () -> array.add(1));
        assertThrows(UnsupportedOperationException.class, () -> array.addi(array));
        assertThrows(UnsupportedOperationException.class, array::sort);
        assertThrows(
                UnsupportedOperationException.class, () -> counted(2).oneHot(3, DataType.INT16));
        assertThrows(
                UnsupportedOperationException.class,
                () -> manager.randomUniform(0, 1, new Shape(2), DataType.UINT16));
        assertValues(array.concat(array), new Shape(4), 0, 1, 0, 1);
    }

    /** PyTorch's engine would end the JVM. */
    @Test
    void leastNumberModuloMinusOne_isRefused() {
        NDArray array = manager.create(new int[] {Integer.MIN_VALUE, 5});
        NDArray longs = manager.create(new long[] {Long.MIN_VALUE, 5});
        assertThrows(UnsupportedOperationException.class, () -> array.mod(-1));
        assertThrows(
                UnsupportedOperationException.class,
                () -> longs.mod(manager.create(new long[] {3, -1})));
        assertThrows(
                UnsupportedOperationException.class,
                () -> manager.create(new int[] {-1}).getNDArrayInternal().rmod(Integer.MIN_VALUE));
        assertComputed(() -> assertValues(array.mod(3), new Shape(2), 1, 2));
    }

    @Test
    void scope_closesItsArrays_andNoOthers() {
        NDArray before = counted(2);
        NDArray inside;
        NDArray result;
        NDArray kept;
        try (NDScope scope = new NDScope()) {
            scope.suppressNotUsedWarning();
            inside = counted(2);
            result = before.add(inside);
            kept = inside.get("1:");
            NDScope.unregister(kept);
        }
        NDArray closed = inside;
        assertThrows(IllegalStateException.class, closed::toFloatArray);
        assertTrue(result.isReleased());
        assertValues(kept, new Shape(1), 1);
        assertValues(before.add(before), new Shape(2), 0, 2);
    }

    @Test
    void gradients_areRefused_andAnotherEnginesArrayWithOneIsAnInput() throws Exception {
        NDArray own = counted(2);
        assertFalse(own.hasGradient());
        assertThrows(UnsupportedOperationException.class, () -> own.setRequiresGradient(true));
        if (!Engine.hasEngine("PyTorch")) {
            return;
        }
        try (NDManager other = NDManager.newBaseManager(Device.cpu(), "PyTorch");
                Model model = Model.newInstance("chains", "TFLite")) {
            model.load(TestModels.built("chains"));
            Shape shape = model.describeInput().valueAt(0);
            NDArray plain = other.ones(shape);
            NDArray learning = other.ones(shape);
            learning.setRequiresGradient(true);
            try (Predictor<NDList, NDList> predictor =
                    model.newPredictor(new NoopTranslator(null))) {
                float[] wanted = predictor.predict(new NDList(plain)).head().toFloatArray();
                NDList found = predictor.predict(new NDList(learning));
                assertArrayEquals(wanted, found.head().toFloatArray());
            }
            assertArrayEquals(
                    new float[] {1, 2}, learning.flatten().get(":2").add(own).toFloatArray());
        }
    }

    @Test
    void encode_andDecode_giveTheSame() {
        NDList list = new NDList(counted(2, 2), manager.create(new int[] {3}));
        NDList back = NDList.decode(manager, list.encode());
        assertEquals(list.get(0), back.get(0));
        assertEquals(list.get(1), back.get(1));
    }

    @Test
    void close_managerClosesItsArrays_andDetachedOnesStay() {
        NDArray kept;
        NDArray gone;
        try (NDManager sub = manager.newSubManager()) {
            gone = sub.create(1f);
            kept = sub.create(2f);
            kept.attach(manager);
            assertEquals(1, sub.getManagedArrays().size());
        }
        assertThrows(IllegalStateException.class, gone::toFloatArray);
        assertEquals(2, kept.getFloat());
        assertValues(kept.add(kept), new Shape(), 4);
        kept.detach();
        NDArray detached = kept;
        assertTrue(manager.getManagedArrays().stream().noneMatch(array -> array == detached));
        assertEquals(2, kept.getFloat());
        kept.close();
    }

    private static Image image(int width, int height) {
        BufferedImage pixels = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                pixels.setRGB(x, y, new Color(x, 2 * y, x + y).getRGB());
            }
        }
        return ImageFactory.getInstance().fromImage(pixels);
    }

    @Test
    void images_resizedCroppedAndNormalized() {
        NDArray pixels = image(8, 4).toNDArray(manager);
        assertEquals(new Shape(4, 8, 3), pixels.getShape());
        assertEquals(7, pixels.toUint8Array()[7 * 3]);
        NDArray half = NDImageUtils.resize(pixels, 4, 2, Image.Interpolation.BILINEAR);
        assertEquals(new Shape(2, 4, 3), half.getShape());
        assertValues(half.toType(DataType.FLOAT32, false).get("0, :, 1"), new Shape(4), 1, 1, 1, 1);
        NDArray near = NDImageUtils.resize(pixels.expandDims(0), 4, 2, Image.Interpolation.NEAREST);
        assertValues(
                near.toType(DataType.FLOAT32, false).get("0, 1, :, 0"), new Shape(4), 0, 2, 4, 6);
        NDArray cropped = new CenterCrop(4, 4).transform(pixels);
        assertEquals(new Shape(4, 4, 3), cropped.getShape());
        NDArray tensor = new ToTensor().transform(pixels);
        assertEquals(new Shape(3, 4, 8), tensor.getShape());
        assertEquals(7 / 255f, tensor.getFloat(0, 0, 7), 1e-6f);
        float[] mean = {0, 1 / 255f, 0};
        float[] scale = {1 / 255f, 0.5f, 1};
        NDArray normal = new Normalize(mean, scale).transform(tensor);
        assertEquals(7, normal.getFloat(0, 0, 7), 1e-5f);
        assertEquals(10 / 255f, normal.getFloat(1, 3, 0), 1e-6f);
    }

    @Test
    void classification_ofAnImage() throws Exception {
        try (Model model = Model.newInstance("mobilenet_v1", "TFLite")) {
            model.load(TestModels.built("mobilenet_v1"));
            Shape input = model.describeInput().valueAt(0);
            int classes = (int) model.describeOutput().valueAt(0).size();
            Pipeline pipeline =
                    new Pipeline()
                            .add(new Resize((int) input.get(2), (int) input.get(1)))
                            .add(new ToTensor())
                            .add(new Normalize(new float[3], new float[] {1, 1, 1}))
                            .add(array -> array.transpose(1, 2, 0));
            ImageClassificationTranslator translator =
                    ImageClassificationTranslator.builder()
                            .setPipeline(pipeline)
                            .optSynset(
                                    IntStream.range(0, classes)
                                            .mapToObj(i -> "class " + i)
                                            .toList())
                            .optApplySoftmax(true)
                            .build();
            try (Predictor<Image, Classifications> predictor = model.newPredictor(translator)) {
                Classifications found = predictor.predict(image(40, 30));
                double sum = found.getProbabilities().stream().mapToDouble(p -> p).sum();
                assertEquals(1, sum, 1e-3);
                assertTrue(found.best().getProbability() >= 1.0 / classes);
                assertEquals(found.toString(), predictor.predict(image(40, 30)).toString());
                assertEquals(1, predictor.batchPredict(List.of(image(40, 30))).size());
            }
        }
    }

    private static void closeAll(NDArray... arrays) {
        new NDList(arrays).close();
    }

    @Test
    void operations_often_leaveNothingInTheManager() {
        NDArray a = counted(2, 3);
        NDArray row = manager.create(new float[] {1, 2, 3});
        NDArray whole = manager.create(new int[] {1, 2, 3});
        NDArray wholeToo = manager.create(new int[] {4, 5, 6});
        NDArray turned = counted(3, 2).transpose();
        int before = manager.getManagedArrays().size();
        for (int i = 0; i < 100; i++) {
            a.addi(row).subi(turned).muli(whole).divi(row);
            a.addi(1).subi(2.5).muli(3).divi(4L);
            a.set(new NDIndex("0"), whole);
            a.set(new NDIndex("1, 1"), 7);
            a.set(new NDIndex("1"), part -> part);
            a.setScalar(new NDIndex("0, 0"), 0.5);
            turned.get("0").close();
            closeAll(a.add(turned), a.sub(1), a.mul(whole), whole.div(2), turned.reshape(6));
            closeAll(turned.sum(), turned.sum(new int[] {0}, true), turned.max(), a.argMax());
            closeAll(turned.clip(1, 2), turned.sqrt(), turned.exp(), turned.softmax(0));
            closeAll(NDArrays.concat(new NDList(a, turned)), NDArrays.stack(new NDList(a, turned)));
            closeAll(NDArrays.concat(new NDList(whole, row)), turned.toType(DataType.INT32, false));
            assertTrue(turned.contentEquals(turned) && !row.contentEquals(1));
            assertEquals(6, turned.toFloatArray().length);
            if (Engine.hasEngine("PyTorch")) {
                closeAll(whole.mod(wholeToo));
            }
        }
        assertEquals(before, manager.getManagedArrays().size());
    }

    @Test
    void newSubManager_ofACappedOne_isOpen() {
        manager.cap();
        try (NDManager below = manager.newSubManager()) {
            assertValues(below.create(7), new Shape(), 7);
        }
        assertThrows(IllegalStateException.class, () -> manager.create(7));
    }
}
