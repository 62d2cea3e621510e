package org.djlplan.memplan.internal.runtime.torch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.internal.budget.WeightTrace;
import org.djlplan.memplan.internal.budget.WeightUse;
import org.djlplan.memplan.internal.runtime.NativeLoader;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class StreamedKindTest {

    private final StreamedKind kind = new StreamedKind(new PredictionKind(ImmutableList.of(), 1));
    private NativeLoader.Use use;

    @BeforeEach
    void bind() throws Exception {
        use = TorchNative.use();
    }

    @AfterEach
    void release() {
        kind.forget();
        use.close();
    }

    private static WeightTrace.Lookup lookup(int first, int last) {
        return new WeightTrace.Lookup(
                new WeightTrace.Range(0, 1), first, last, WeightUse.PAGE_BYTES);
    }

    /** The second lookup would wait until the first one ends. */
    private static WeightTrace overlapping() {
        ImmutableLongArray zeros = ImmutableLongArray.of(0, 0, 0);
        return new WeightTrace(
                WeightTraces.pieces(2),
                zeros,
                zeros,
                List.of(),
                List.of(lookup(0, 2), lookup(1, 1)));
    }

    @Test
    void plan_waitsForEver_isForgottenAndRecordedOnceMore() {
        kind.learn(overlapping());
        kind.plan(0);
        assertEquals(Optional.empty(), kind.schedule());
        assertFalse(kind.isKnown());
        assertTrue(kind.isRecordedNext());
        kind.learn(overlapping());
        kind.plan(0);
        assertFalse(kind.isRecordedNext());
    }
}
