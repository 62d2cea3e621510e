package org.djlplan.memplan.internal.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.training.ParameterStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.testing.FakeArrays;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.Test;

class VerifiedForwardTest {

    private static final int VERIFIED = 4;

    private final NDManager manager = FakeArrays.manager();
    private final ParameterStore store = new ParameterStore(FakeArrays.manager(), false);
    private final List<String> runs = new ArrayList<>();
    private final List<NDArray> stockOutputs = new ArrayList<>();
    private int plannedValue = 5;

    private final VerifiedForward forward =
            new VerifiedForward(
                    "the model",
                    (parameters, inputs, params) -> {
                        runs.add("stock");
                        NDArray output = FakeArrays.bytes(manager, 5, inputs.size());
                        stockOutputs.add(output);
                        // Blocks may change their input list.
                        NDList outputs = new NDList(output);
                        inputs.clear();
                        return outputs;
                    },
                    (parameters, inputs, params) -> {
                        runs.add("planned");
                        return new NDList(FakeArrays.bytes(manager, plannedValue, inputs.size()));
                    },
                    new VerifiedForward.Status());

    private static VerifiedForward verified(InferencePass stock, InferencePass planned) {
        return new VerifiedForward("model", stock, planned, new VerifiedForward.Status());
    }

    private NDList predict(int inputLength) {
        NDList inputs = new NDList(FakeArrays.bytes(manager, new int[inputLength]));
        return forward.forward(store, inputs, Optional.empty());
    }

    private long count(String run) {
        return runs.stream().filter(run::equals).count();
    }

    @Test
    void forward_firstPredictions_bothThenThePlannedAlone() {
        for (int i = 0; i < VERIFIED; i++) {
            predict(1);
            assertEquals(List.of("stock", "planned"), runs.subList(2 * i, runs.size()));
        }
        predict(1);
        predict(1);
        assertEquals(VERIFIED, count("stock"));
        assertEquals(VERIFIED + 2, count("planned"));
    }

    @Test
    void forward_stockOutputs_areClosedWhenTheyAreCompared() {
        NDList outputs = predict(1);
        assertTrue(stockOutputs.get(0).isReleased());
        assertFalse(outputs.head().isReleased());
    }

    @Test
    void forward_oneByteDiffers_stocksAnswerNowAndFromThenOn() {
        predict(1);
        plannedValue = 6;
        try (LogCapture log = new LogCapture()) {
            NDList outputs = predict(1);
            assertSame(stockOutputs.get(1), outputs.head());
            assertFalse(outputs.head().isReleased());
            assertTrue(stockOutputs.get(2).isReleased());
            assertEquals(1, log.ours("WARN").size(), log.lines().toString());
            assertTrue(log.ours("WARN").get(0).contains("the model"));
        }
        plannedValue = 5;
        runs.clear();
        predict(1);
        predict(2);
        assertEquals(List.of("stock", "stock"), runs);
    }

    @Test
    void forward_modelThatReturnsItsInput_leavesItOpen() {
        InferencePass identity = (parameters, inputs, params) -> new NDList(inputs);
        VerifiedForward verified = verified(identity, identity);
        NDArray input = FakeArrays.bytes(manager, 1);
        verified.forward(store, new NDList(input), Optional.empty());
        assertFalse(input.isReleased());
    }

    private void verifyOneThatReturns(NDArray kept) {
        InferencePass returning = (parameters, inputs, params) -> new NDList(kept);
        VerifiedForward verified = verified(returning, returning);
        NDArray input = FakeArrays.bytes(manager, 1);
        assertSame(kept, verified.forward(store, new NDList(input), Optional.empty()).head());
        assertFalse(kept.isReleased());
    }

    @Test
    void forward_modelThatReturnsAParameter_leavesItOpen() {
        verifyOneThatReturns(FakeArrays.bytes(FakeArrays.manager(), 1));
        verifyOneThatReturns(FakeArrays.bytes(manager, 1));
    }

    /** Each pass adds another array to the model's manager. */
    @Test
    void forward_outputThatBelongsToTheModel_staysOpen() {
        NDManager models = FakeArrays.manager();
        InferencePass pass =
                (parameters, inputs, params) -> {
                    stockOutputs.add(FakeArrays.bytes(models, 1));
                    return new NDList(stockOutputs.get(stockOutputs.size() - 1));
                };
        VerifiedForward verified = verified(pass, pass);
        NDArray input = FakeArrays.bytes(manager, 1);
        NDList unused = verified.forward(store, new NDList(input), Optional.empty());
        assertEquals(2, stockOutputs.size());
        assertTrue(stockOutputs.stream().noneMatch(NDArray::isReleased));
    }

    @Test
    void forward_plannedPassFails_closesStocksOutputs() {
        VerifiedForward verified =
                verified(
                        (parameters, inputs, params) -> {
                            stockOutputs.add(FakeArrays.bytes(manager, 1));
                            return new NDList(stockOutputs);
                        },
                        (parameters, inputs, params) -> {
                            throw new IllegalStateException();
                        });
        NDList inputs = new NDList(FakeArrays.bytes(manager, 1));
        assertThrows(
                IllegalStateException.class,
                () -> verified.forward(store, inputs, Optional.empty()));
        assertTrue(stockOutputs.get(0).isReleased());
    }

    private String verifyOneThatReturns(NDArray stocks, NDArray planned) {
        VerifiedForward verified =
                verified(
                        (parameters, inputs, params) -> new NDList(stocks),
                        (parameters, inputs, params) -> new NDList(planned));
        NDList inputs = new NDList(FakeArrays.bytes(manager, 1));
        try (LogCapture log = new LogCapture()) {
            NDArray output = verified.forward(store, inputs, Optional.empty()).head();
            assertSame(log.ours("WARN").isEmpty() ? planned : stocks, output);
            return output == planned ? "equal" : "different";
        }
    }

    @Test
    void forward_strings_areCompared() {
        assertEquals(
                "equal",
                verifyOneThatReturns(
                        FakeArrays.strings(manager, "a", "b"),
                        FakeArrays.strings(manager, "a", "b")));
        assertEquals(
                "different",
                verifyOneThatReturns(
                        FakeArrays.strings(manager, "a", "b"),
                        FakeArrays.strings(manager, "a", "c")));
    }

    @Test
    void forward_outputsThatCannotBeRead_areDifferentOnlyIfStocksCan() {
        NDArray unreadable = FakeArrays.array(manager, DataType.STRING, 1, 1, 1);
        assertEquals("equal", verifyOneThatReturns(unreadable, unreadable));
        assertEquals(
                "different", verifyOneThatReturns(FakeArrays.strings(manager, "a"), unreadable));
    }
}
