package org.djlplan.integration.torch.liveness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import java.util.List;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.memplan.internal.config.Liveness;
import org.djlplan.memplan.internal.djl.liveness.LivenessExecutor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that DJL's own networks compute the same bits in far less memory. */
@OnEveryDjlWhenLong
class LivenessZooTest {

    private static final int MOST_LEFT_OPEN = 12;

    @ParameterizedTest
    @EnumSource(ZooBlocks.class)
    void op_zooBlock_sameBitsInLessMemory(ZooBlocks zoo) {
        try (Sample sample = zoo.sample()) {
            LivenessExecutor executor = sample.executor(Liveness.AUTO);
            for (long batch : new long[] {1, 8}) {
                LiveMeter.Reading stock = read(sample, batch, 1);
                List<List<Byte>> expected = Sample.bits(stock.outputs());
                stock.outputs().getManager().close();
                for (int run = 0; run < 2; run++) {
                    LiveMeter.Reading planned = read(sample, executor, batch, 1);
                    assertEquals(expected, Sample.bits(planned.outputs()), "run " + run);
                    if (run > 0) {
                        double share = (double) planned.mostBytes() / stock.mostBytes();
                        assertTrue(share <= zoo.share(), zoo + ": " + share);
                        assertTrue(planned.leftOpen() <= stock.leftOpen());
                        // Only arrays in direct buffers, and outputs, stay open.
                        assertTrue(planned.leftOpen() <= MOST_LEFT_OPEN);
                    }
                    planned.outputs().getManager().close();
                }
            }
            assertEquals(Liveness.OP, executor.mode());
            assertEquals(0, executor.fallbacks());
            assertEquals(0, executor.divergences());
        }
    }

    @Test
    void meter_viewsAndClosedBases_countOnce() {
        try (NDManager manager = NDManager.newBaseManager(null, Sample.ENGINE)) {
            LiveMeter.Reading reading =
                    LiveMeter.of(
                            () -> {
                                NDArray base = manager.zeros(new Shape(10, 10));
                                NDArray view = base.transpose();
                                base.close();
                                return new NDList(view.reshape(100).add(1));
                            });
            // The base, its copy in another order, the number, and the sum.
            assertEquals(400 + 400 + 4 + 400, reading.mostBytes());
        }
    }

    private static LiveMeter.Reading read(Sample sample, long batch, long seed) {
        NDManager manager = sample.newManager();
        NDList inputs = sample.inputs(manager, batch, seed);
        return LiveMeter.of(() -> sample.stock(inputs));
    }

    private static LiveMeter.Reading read(
            Sample sample, LivenessExecutor executor, long batch, long seed) {
        NDManager manager = sample.newManager();
        NDList inputs = sample.inputs(manager, batch, seed);
        return LiveMeter.of(() -> sample.planned(executor, inputs));
    }
}
