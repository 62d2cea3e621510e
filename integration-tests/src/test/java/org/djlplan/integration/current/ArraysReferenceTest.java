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

/** Tests that djl-plan's arrays answer as PyTorch's do, or reject the call. */
@Tag("djl-current")
class ArraysReferenceTest {

    private static final Pattern TOTAL = Pattern.compile("(\\d+) same, 0 wrong\\R*$");

    @TempDir Path folder;

    /**
     * The two JVMs run at once: most of the time, libtorch writes the stack of an error on one
     * core.
     */
    @Test
    @Tag("long")
    void calls_besidePyTorchAndAlone_answerAsPyTorchOrAreRefused() throws Exception {
        ChildJvm.Running beside = jvm().start(ArraysReferenceProgram.class);
        ChildJvm.Running alone =
                jvm().options("-Dai.djl.tflite.disable_alternative=true")
                        .start(ArraysReferenceProgram.class);
        require(beside.result(), 20_000);
        require(alone.result(), 10_000);
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
