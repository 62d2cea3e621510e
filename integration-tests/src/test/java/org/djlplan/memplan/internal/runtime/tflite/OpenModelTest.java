package org.djlplan.memplan.internal.runtime.tflite;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.spi.NativeDelegate;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;

class OpenModelTest {

    private static final int WARM_UP = 500;
    private static final int FAILURES = 2000;

    /** Sessions of this model take about 70 KB before they are allocated. */
    private static final long MOST_BYTES = 16L << 20;

    /** Not used before the CPU kernels have prepared. */
    private record NoDelegate() implements NativeDelegate {

        @Override
        public long handle() {
            throw new AssertionError("used");
        }

        @Override
        public void close() {}
    }

    /** By an exception that nobody expects there. */
    @Test
    void open_kernelsCannotPrepare_leavesNoSession() throws Exception {
        StockInterpreter.loadEngine();
        List<Integer> noShape = Collections.singletonList(null);
        EngineSession.Spec spec =
                new EngineSession.Spec(
                        1,
                        Optional.empty(),
                        Optional.of(
                                new EngineSession.Delegated(
                                        new NoDelegate(),
                                        ImmutableSortedSet.of(0),
                                        List.of(noShape))),
                        false);
        try (OpenModel model = OpenModel.of(TestModels.built("mobilenet_v2"))) {
            fail(model, spec, WARM_UP);
            long before = anonymousBytes();
            fail(model, spec, FAILURES);
            long grown = anonymousBytes() - before;
            assertTrue(grown < MOST_BYTES, () -> grown + " bytes");
        }
    }

    private static void fail(OpenModel model, EngineSession.Spec spec, int times) {
        for (int i = 0; i < times; i++) {
            assertThrows(NullPointerException.class, () -> model.sessions().open(spec));
        }
    }

    private static long anonymousBytes() {
        ProcessMemory.trim();
        return new ProcessMemory().anonymousBytes().orElseThrow();
    }
}
