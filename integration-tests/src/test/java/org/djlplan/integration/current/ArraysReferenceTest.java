package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.djlplan.integration.support.ChildJvm;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that djl-plan's arrays answer as PyTorch's do, or reject the call. The normal build makes
 * one call in {@value #PART}; {@code -Pmodels} makes all of them.
 */
@Tag("djl-current")
class ArraysReferenceTest {

    private static final Pattern TOTAL = Pattern.compile("(\\d+) same, 0 wrong\\R*$");

    private static final int PART = 16;

    private static final boolean THOROUGH = Boolean.getBoolean("djlplan.thorough");

    @TempDir Path folder;

    /**
     * The two JVMs run at once: most of the time, libtorch writes the stack of an error on one
     * core.
     */
    @Test
    @Tag("long")
    void calls_besidePyTorchAndAlone_answerAsPyTorchOrAreRefused() throws Exception {
        String part = THOROUGH ? "1" : Integer.toString(PART);
        ChildJvm.Running beside = jvm().start(ArraysReferenceProgram.class, part);
        ChildJvm.Running alone =
                jvm().options("-Dai.djl.tflite.disable_alternative=true")
                        .start(ArraysReferenceProgram.class, part);
        require(beside.result(), THOROUGH ? 15_000 : 15_000 / PART);
        require(alone.result(), THOROUGH ? 10_000 : 10_000 / PART);
    }

    private ChildJvm jvm() {
        return new ChildJvm(folder).options("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");
    }

    private static void require(ChildJvm.Result result, int least) {
        assertEquals(0, result.exitCode(), result.printed());
        Matcher total = TOTAL.matcher(result.out());
        assertTrue(total.find(), result.printed());
        assertTrue(Integer.parseInt(total.group(1)) >= least, total.group());
    }
}
