package org.djlplan.integration.liveness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import java.util.List;
import org.djlplan.memplan.config.Liveness;
import org.djlplan.memplan.djl.liveness.LivenessExecutor;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** DJL's own networks give the same bits, in far less memory. */
public abstract class AbstractZooTest {

    @ParameterizedTest
    @EnumSource(ZooBlocks.class)
    void op_zooBlock_sameBitsInLessMemory(ZooBlocks zoo) {
        try (Sample sample = zoo.sample()) {
            LivenessExecutor executor = sample.executor(Liveness.OP);
            for (long batch : new long[] {1, 8, 1}) {
                LiveMeter.Reading stock = read(sample, batch, 1);
                List<List<Byte>> expected = Sample.bits(stock.outputs());
                int outputs = stock.outputs().size();
                stock.outputs().getManager().close();
                for (int run = 0; run < 3; run++) {
                    LiveMeter.Reading planned = read(sample, executor, batch, 1);
                    assertEquals(expected, Sample.bits(planned.outputs()), "run " + run);
                    if (run > 0) {
                        System.out.println(
                                zoo
                                        + " "
                                        + batch
                                        + " "
                                        + stock.mostBytes()
                                        + " "
                                        + planned.mostBytes()
                                        + " "
                                        + (double) planned.mostBytes() / stock.mostBytes()
                                        + " "
                                        + stock.leftOpen()
                                        + " "
                                        + planned.leftOpen());
                        assertTrue(outputs <= planned.leftOpen());
                    }
                    planned.outputs().getManager().close();
                }
            }
            assertEquals(Liveness.OP, executor.mode());
            assertEquals(0, executor.fallbacks());
            assertEquals(0, executor.divergences());
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
