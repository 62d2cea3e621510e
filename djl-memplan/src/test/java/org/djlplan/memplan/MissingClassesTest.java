package org.djlplan.memplan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.errors.NotPlannedException;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.Test;

class MissingClassesTest {

    private static Optional<String> refusal(Map<String, ?> given, Map<String, ?> arguments) {
        return MissingClasses.leaveAsStock("net", given, arguments, new NoClassDefFoundError("a/B"))
                .map(NotPlannedException::reason);
    }

    @Test
    void leaveAsStock_notRequired_warns() {
        try (LogCapture log = LogCapture.echoing()) {
            assertTrue(refusal(Map.of(), Map.of("memplan.required", "false")).isEmpty());
            assertEquals(1, log.ours("WARN").size(), log.ours("WARN").toString());
        }
    }

    @Test
    void leaveAsStock_required_refuses() {
        Optional<String> reason = Optional.of("java.lang.NoClassDefFoundError: a/B");
        try (LogCapture log = LogCapture.echoing()) {
            assertEquals(reason, refusal(Map.of("memplan.required", true), Map.of()));
            assertEquals(reason, refusal(Map.of(), Map.of("memplan.required", "True")));
            assertEquals(0, log.ours("WARN").size(), log.ours("WARN").toString());
        }
    }

    @Test
    void leaveAsStock_applicationDoesNotRequire_itsCodeCounts() {
        assertTrue(
                refusal(Map.of("memplan.required", false), Map.of("memplan.required", "true"))
                        .isEmpty());
    }
}
