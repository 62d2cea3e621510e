package org.djlplan.memplan.internal.runtime.tflite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the places of tensors that the native library computes without a plan, at the file's
 * shapes.
 */
@Tag("djl-current")
class FittedTest {

    private static EngineSession.Fitted fitted(Path file) throws Exception {
        StockInterpreter.loadEngine();
        try (OpenModel model = OpenModel.of(file)) {
            EngineSession.Source sessions = model.sessions();
            List<Integer> placed = EngineView.plannable(model.graph(), sessions.placesOutputs());
            EngineSession.Spec spec =
                    new EngineSession.Spec(1, Optional.of(placed), Optional.empty(), false);
            try (EngineSession session = sessions.open(spec)) {
                session.allocate();
                return session.fit().orElseThrow();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"blaze_face", "chains", "inception", "uneven"})
    void fit_network_needsNoLessThanTheBound(String network) throws Exception {
        EngineSession.Fitted fitted = fitted(TestModels.built(network));
        assertTrue(fitted.leastBytes() > 0, fitted.toString());
        assertTrue(fitted.arenaBytes() >= fitted.leastBytes(), fitted.toString());
    }

    /** The input and the output of the widest operator, in bytes. */
    @Test
    void fit_knownNetworks_boundIsTheirWidestOperator() throws Exception {
        assertEquals(
                4 * 112 * 112 * (32 + 64), fitted(TestModels.built("mobilenet_v1")).leastBytes());
        assertEquals(
                4 * (112 * 112 + 56 * 56) * 96,
                fitted(TestModels.built("mobilenet_v2")).leastBytes());
    }
}
