package org.djlplan.integration.nativecode;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the code that loads weights during an inference under sanitizers. */
class StreamCodeTest {

    @TempDir Path folder;

    @Test
    void stream_goodAndBadUses_violatesNoMemory() throws Exception {
        NativeProgram program = new NativeProgram(folder);
        check(program, program.memoryChecker());
    }

    @Test
    void stream_loaderAndModel_haveNoRaces() throws Exception {
        NativeProgram program = new NativeProgram(folder);
        check(program, program.threadChecker());
    }

    private static void check(NativeProgram program, NativeProgram.Checker checker)
            throws Exception {
        Path check =
                program.compileAlone(
                        checker,
                        List.of(
                                NativeProgram.SOURCES.resolve("check_stream.c"),
                                NativeProgram.LIBRARY.resolve("stream.c")));
        program.assertOk(checker, List.of(check.toString()));
    }
}
