package org.djlplan.integration.tflite.slicing;

import static org.djlplan.integration.tflite.slicing.LayerSketch.LAYER;
import static org.djlplan.integration.tflite.slicing.LayerSketch.NONE;
import static org.djlplan.integration.tflite.slicing.LayerSketch.RELU6;
import static org.djlplan.integration.tflite.slicing.LayerSketch.convolution;
import static org.djlplan.integration.tflite.slicing.LayerSketch.fullyConnected;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.djlplan.integration.support.Bits;
import org.djlplan.integration.support.BudgetModels;
import org.djlplan.memplan.internal.slicing.Dequantize;
import org.djlplan.memplan.internal.slicing.SliceDecision;
import org.djlplan.memplan.internal.slicing.SlicePlanner;
import org.djlplan.memplan.internal.slicing.Slicer;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that sliced layers compute the same bits as whole layers. Both run in the stock engine. */
class SlicerBitsTest {

    @TempDir Path folder;

    static Stream<Arguments> oneThread() {
        return Stream.of(
                Arguments.of(convolution(7, 512, 512, 3, 1), 128, 4),
                Arguments.of(convolution(7, 256, 1024, 1, 1), 128, 7),
                Arguments.of(convolution(14, 64, 96, 3, 2), 40, 2),
                Arguments.of(convolution(15, 33, 50, 5, 2), 24, 4),
                Arguments.of(convolution(56, 3, 64, 7, 2), 64, 5),
                Arguments.of(convolution(28, 64, 64, 3, 1), 64, 4),
                Arguments.of(convolution(28, 64, 64, 3, 1), 16, 28),
                Arguments.of(new LayerSketch(20, 13, 16, 24, 3, 1, 1, NONE), 8, 5),
                Arguments.of(new LayerSketch(21, 17, 16, 24, 3, 3, 0, RELU6), 8, 2),
                Arguments.of(new LayerSketch(3, 50, 16, 24, 1, 1, 0, NONE), 16, 1),
                Arguments.of(fullyConnected(1024, 513), 64, 1),
                Arguments.of(fullyConnected(4096, 1000), 16, 1));
    }

    static Stream<Arguments> twoThreads() {
        return Stream.of(
                Arguments.of(convolution(7, 512, 512, 3, 1), 64, 7),
                Arguments.of(convolution(14, 512, 512, 3, 2), 128, 7),
                Arguments.of(convolution(14, 1024, 256, 1, 1), 64, 14),
                Arguments.of(convolution(7, 2048, 512, 1, 1), 128, 7),
                Arguments.of(convolution(28, 256, 128, 3, 1), 16, 28),
                Arguments.of(fullyConnected(4096, 1000), 64, 1));
    }

    @ParameterizedTest
    @MethodSource("oneThread")
    void run_slicedForOneThread_givesTheSameBits(LayerSketch layer, int channels, int rows)
            throws IOException {
        check(layer, channels, rows, 1);
    }

    @ParameterizedTest
    @MethodSource("twoThreads")
    void run_slicedForTwoThreads_givesTheSameBits(LayerSketch layer, int channels, int rows)
            throws IOException {
        check(layer, channels, rows, 2);
    }

    /** Every decision of the planner for an arena keeps the outputs' bits. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void run_plannedSlicesOfRandomLayers_giveTheSameBits(int threads) throws IOException {
        Random random = new Random(threads);
        int sliced = 0;
        for (int i = 0; i < 20; i++) {
            LayerSketch layer = LayerSketch.random(random);
            sliced += checkPlanned(layer.build(i), threads, layer.toString());
        }
        assertTrue(sliced > 10, sliced + " sliced");
    }

    @ParameterizedTest
    @EnumSource(names = {"SMALL_RESNET", "SMALL_VGG", "SMALL_VGG_F16"})
    void run_plannedSlicesOfANetwork_giveTheSameBits(BudgetModels model) throws IOException {
        TfLiteFile file = TfLiteReader.read(model.file());
        int sliced = checkPlanned(file, 1, model + ", 1 thread");
        sliced += checkPlanned(file, 2, model + ", 2 threads");
        assertTrue(sliced > 1, sliced + " sliced");
    }

    /** Slices a model for several arenas; returns how many of them changed it. */
    private int checkPlanned(TfLiteFile packed, int threads, String name) throws IOException {
        TfLiteFile file = Dequantize.constants(packed);
        SlicePlanner planner = new SlicePlanner(file, threads);
        List<ByteBuffer> expected = RewrittenModel.run(packed, folder, threads);
        Set<List<SliceDecision>> checked = new HashSet<>(Set.of(List.of()));
        for (double times : new double[] {1, 1.3, 2, 4}) {
            List<SliceDecision> decisions =
                    planner.decisions((long) (times * planner.least().bytes()));
            if (checked.add(decisions)) {
                List<ByteBuffer> actual =
                        RewrittenModel.run(Slicer.slice(file, decisions).file(), folder, threads);
                Bits.assertSame(expected, actual, name + ": " + decisions);
            }
        }
        return checked.size() - 1;
    }

    private void check(LayerSketch layer, int channels, int rows, int threads) throws IOException {
        TfLiteFile whole = layer.build(9);
        SliceDecision decision =
                new SliceDecision(LAYER, slices(layer.out(), channels), slices(layer.rows(), rows));
        TfLiteFile sliced = Slicer.slice(whole, List.of(decision)).file();
        Bits.assertSame(
                RewrittenModel.run(whole, folder, threads),
                RewrittenModel.run(sliced, folder, threads),
                decision.toString());
    }

    /** Returns slices of one size; the rest belongs to the last slice. */
    private static List<Integer> slices(int whole, int size) {
        List<Integer> slices = new ArrayList<>();
        int left = whole;
        for (; left >= 2 * size; left -= size) {
            slices.add(size);
        }
        slices.add(left);
        return slices;
    }
}
