package org.djlplan.memplan.internal.candidates;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.TensorInfo;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.Test;

class CpuOutputsTest {

    private static final int WIDTH = 8;

    /** A deviation that no noise measured here explains, so that all runs are made. */
    private static final List<OutputError> ERRORS =
            List.of(new OutputError(ElementType.FLOAT32, 5e-3));

    private final List<Sum> opened = new ArrayList<>();

    private static Tensor tensor(int id) {
        return new Tensor(
                id,
                "t" + id,
                ElementType.FLOAT32,
                List.of(1, WIDTH),
                WIDTH * Float.BYTES,
                Storage.INTERMEDIATE,
                Optional.empty());
    }

    private static CpuOutputs outputs(boolean keepsState) {
        return new CpuOutputs(
                new Graph(
                        "sum",
                        List.of(new Operator(0, "RNN", List.of(0), List.of(1), List.of())),
                        List.of(tensor(0), tensor(1)),
                        List.of(0),
                        List.of(1)),
                keepsState,
                Tolerance.AUTO);
    }

    /** The sum of its inputs so far, or its input. */
    private final class Sum implements CpuOutputs.Interpreter {

        private final boolean keepsState;
        private final float[] sum = new float[WIDTH];
        private final List<Integer> inputs = new ArrayList<>();
        private boolean closed;

        Sum(boolean keepsState) {
            this.keepsState = keepsState;
            opened.add(this);
        }

        @Override
        public List<OutputTensor> of(List<ByteBuffer> values, int input) {
            inputs.add(input);
            ByteBuffer given = values.get(0).duplicate().order(ByteOrder.nativeOrder());
            ByteBuffer output =
                    ByteBuffer.allocate(WIDTH * Float.BYTES).order(ByteOrder.nativeOrder());
            for (int i = 0; i < WIDTH; i++) {
                sum[i] = given.getFloat() + (keepsState ? sum[i] : 0);
                output.putFloat(sum[i]);
            }
            TensorInfo info =
                    new TensorInfo(
                            "t1", ElementType.FLOAT32, List.of(1, WIDTH), WIDTH * Float.BYTES);
            return List.of(new OutputTensor(info, output.rewind()));
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    private static double noise(CpuOutputs outputs) {
        return outputs.withNoise(ERRORS).get(0).noise().largest();
    }

    /** The reference has the state of all inputs before, so the noise must have it, too. */
    @Test
    void measureNoise_modelThatKeepsState_isOfWholeSequences() throws Exception {
        CpuOutputs outputs = outputs(true);
        int inputs = outputs.learn(new Sum(true), 1);
        opened.clear();
        outputs.measureNoise(() -> new Sum(true), ERRORS);
        assertTrue(noise(outputs) > 0 && noise(outputs) < 1e-5, () -> "" + noise(outputs));
        assertTrue(opened.size() > 1, "one sequence");
        assertEquals(outputs.noiseRuns(), inputs * opened.size());
        for (Sum each : opened) {
            assertEquals(List.of(0, 1, 2, 3, 4).subList(0, inputs), each.inputs);
            assertTrue(each.closed);
        }
    }

    @Test
    void measureNoise_modelWithoutState_takesOneInterpreter() throws Exception {
        CpuOutputs outputs = outputs(false);
        int inputs = outputs.learn(new Sum(false), 1);
        opened.clear();
        outputs.measureNoise(() -> new Sum(false), ERRORS);
        assertEquals(1, opened.size());
        assertTrue(opened.get(0).closed);
        ImmutableList.Builder<Integer> inTurn = ImmutableList.builder();
        for (int i = 0; i < outputs.noiseRuns(); i++) {
            inTurn.add(i % inputs);
        }
        assertEquals(inTurn.build(), opened.get(0).inputs);
        assertTrue(noise(outputs) > 0 && noise(outputs) < 1e-5, () -> "" + noise(outputs));
    }
}
