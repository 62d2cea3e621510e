package org.djlplan.memplan.internal.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SupportedPlatformsTest {

    private final String system = System.getProperty("os.name");
    private final String processor = System.getProperty("os.arch");

    private static void pretend(String system, String processor) {
        System.setProperty("os.name", system);
        System.setProperty("os.arch", processor);
    }

    @AfterEach
    void stopPretending() {
        pretend(system, processor);
    }

    @ParameterizedTest
    @CsvSource({
        "Linux, amd64, x86_64",
        "Linux, aarch64, aarch64",
        "Linux, s390x, ''",
        "Linux, i386, ''",
        "Mac OS X, aarch64, ''",
        "Windows 11, amd64, ''"
    })
    void processor_ofAPlatform(String name, String architecture, String expected) {
        pretend(name, architecture);
        assertEquals(
                Optional.of(expected).filter(text -> !text.isEmpty()),
                SupportedPlatforms.processor());
    }

    @Test
    void warnIfUnsupported_windows_warnsOnceAndListsSupportedPlatforms() {
        try (LogCapture log = new LogCapture()) {
            SupportedPlatforms.warnIfUnsupported();
            pretend("Windows 11", "amd64");
            SupportedPlatforms.warnIfUnsupported();
            SupportedPlatforms.warnIfUnsupported();
            assertEquals(1, log.ours("WARN").size(), log.lines().toString());
            assertTrue(
                    log.ours("WARN")
                            .get(0)
                            .endsWith(
                                    "djl-plan plans nothing on Windows 11 on amd64: it supports"
                                            + " Linux on x86_64 and on aarch64. Models of engines"
                                            + " that DJL brings run as stock"),
                    log.lines().toString());
        }
    }
}
