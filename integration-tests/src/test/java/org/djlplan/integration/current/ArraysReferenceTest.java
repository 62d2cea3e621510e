package org.djlplan.integration.current;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.djlplan.integration.nativecode.NativeProgram;
import org.djlplan.integration.support.ChildJvm;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that djl-plan's arrays answer as PyTorch's do, or reject the call. */
@Tag("djl-current")
class ArraysReferenceTest {

    private static final Pattern TOTAL = Pattern.compile("(\\d+) same, 0 wrong\\R*$");

    @TempDir Path folder;

    @Test
    @Tag("long")
    void calls_besidePyTorchAndAlone_answerAsPyTorchOrAreRefused() throws Exception {
        require(jvm(), 20_000);
        require(jvm().options("-Dai.djl.tflite.disable_alternative=true"), 10_000);
    }

    private ChildJvm jvm() throws Exception {
        Path library =
                new NativeProgram(folder)
                        .compileLibrary(
                                "libnobacktrace.so",
                                NativeProgram.SOURCES.resolve("no_backtrace.c"));
        return new ChildJvm(folder)
                .options("-XX:+UseSerialGC")
                .environment(Map.of("LD_PRELOAD", library.toString()));
    }

    private static void require(ChildJvm jvm, int least) throws Exception {
        ChildJvm.Result result = jvm.run(ArraysReferenceProgram.class);
        assertEquals(0, result.exitCode(), result.printed());
        Matcher total = TOTAL.matcher(result.out());
        assertTrue(total.find(), result.printed());
        assertTrue(Integer.parseInt(total.group(1)) >= least, total.group());
    }
}
