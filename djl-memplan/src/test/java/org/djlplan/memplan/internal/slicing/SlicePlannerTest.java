package org.djlplan.memplan.internal.slicing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.djlplan.memplan.internal.slicing.SlicePlanner.Least;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SlicePlannerTest {

    private static final int LAYER = 1;

    /** A layer between two copies. */
    private static TfLiteFile convolution(int side, int kernel, int in, int out) {
        TestModel model = new TestModel();
        int x = model.copy(model.input(1, side, side, in));
        int y =
                model.convolution(
                        x,
                        model.constant(out, kernel, kernel, in),
                        model.constant(out),
                        model.tensor(1, side, side, out));
        return model.output(model.copy(y)).build();
    }

    private static TfLiteFile connected(int in, int out) {
        TestModel model = new TestModel();
        int x = model.copy(model.input(1, in));
        int y = model.connected(x, model.constant(out, in), model.tensor(1, out));
        return model.output(model.copy(y)).build();
    }

    private static SliceDecision only(List<SliceDecision> decisions) {
        assertEquals(1, decisions.size(), decisions.toString());
        return decisions.get(0);
    }

    @Test
    void decisions_fittingLayers_stayWhole() {
        TfLiteFile file = convolution(14, 3, 256, 256);
        long patches = 14L * 14 * 9 * 256 * Float.BYTES;
        long weights = 9L * 256 * 256 * Float.BYTES;
        long activations = 2L * 14 * 14 * 256 * Float.BYTES;
        long whole = activations + patches + 2 * weights;
        assertEquals(List.of(), new SlicePlanner(file, 1).decisions(whole));
        assertEquals(1, new SlicePlanner(file, 1).decisions(whole - weights).size());
        assertEquals(List.of(), new SlicePlanner(file, 2).decisions(whole - patches));
        assertEquals(1, new SlicePlanner(file, 2).decisions(whole - patches - weights).size());
    }

    /** Patches are most of a large image's memory; cutting weights would not make them smaller. */
    @Test
    void decisions_largePatches_areCutByRows() {
        TfLiteFile file = convolution(56, 3, 32, 32);
        long patches = 56L * 56 * 9 * 32 * Float.BYTES;
        SliceDecision decision = only(new SlicePlanner(file, 1).decisions(patches));
        assertEquals(List.of(32), decision.channels());
        assertTrue(decision.rows().size() > 1, decision.toString());
        assertEquals(List.of(), new SlicePlanner(file, 2).decisions(patches));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void decisions_largeWeights_areCutIntoTheFewestSlicesThatLeaveRoomForTheNext(int threads) {
        TfLiteFile file = connected(1024, 1024);
        SlicePlanner planner = new SlicePlanner(file, threads);
        long activations = 2L * 1024 * Float.BYTES;
        for (int slices = 1; slices <= 32; slices *= 2) {
            long pieceBytes = 1024L * 1024 * 4 / slices;
            List<SliceDecision> decisions = planner.decisions(activations + 2 * pieceBytes);
            int count = decisions.isEmpty() ? 1 : only(decisions).count();
            assertEquals(slices, count);
        }
        assertEquals(new Least(activations + 16L * 1024 * 4, LAYER), planner.least());
    }

    @Test
    void decisions_smallerThanTheLeast_equalTheLeasts() {
        SlicePlanner planner = new SlicePlanner(convolution(14, 3, 64, 64), 1);
        assertEquals(planner.decisions(planner.least().bytes()), planner.decisions(1));
    }

    /**
     * Eigen divides the work on few places with many channels by channels, in blocks of any size.
     */
    @Test
    void decisions_layerWhoseBitsWouldChange_staysWhole() {
        TfLiteFile file = convolution(7, 1, 512, 2048);
        assertEquals(1, new SlicePlanner(file, 1).decisions(1).size());
        assertEquals(List.of(), new SlicePlanner(file, 2).decisions(1));
        long weights = 512L * 2048 * Float.BYTES;
        assertTrue(new SlicePlanner(file, 2).least().bytes() > weights);
    }

    @Test
    void least_modelWithoutOperators_isNothing() {
        assertEquals(new Least(0, -1), new SlicePlanner(new TestModel().build(), 1).least());
    }

    /** A model sliced for an arena has no constant and no patches larger than the arena. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void decisions_manyArenas_fitIntoThem(int threads) {
        for (TfLiteFile file :
                List.of(
                        convolution(28, 3, 64, 128),
                        convolution(14, 3, 128, 256),
                        convolution(16, 5, 33, 50),
                        connected(3000, 1000))) {
            SlicePlanner planner = new SlicePlanner(file, threads);
            long least = planner.least().bytes();
            for (long arena = least; arena < 8 * least; arena += least / 5) {
                check(file, planner.decisions(arena), threads, arena);
            }
        }
    }

    private static void check(
            TfLiteFile file, List<SliceDecision> decisions, int threads, long arenaBytes) {
        TfLiteFile sliced = Slicer.slice(file, decisions).file();
        Layer whole = Layer.all(file).get(LAYER);
        long activationBytes = whole.in().bytes() + whole.out().bytes();
        for (Layer slice : Layer.all(sliced).values()) {
            long patchBytes = threads == 1 ? slice.patchBytes(slice.out().height()) : 0;
            long neededBytes =
                    activationBytes + patchBytes + slice.out().channels() * slice.channelBytes();
            assertTrue(neededBytes <= arenaBytes, slice + " in " + arenaBytes);
        }
    }
}
