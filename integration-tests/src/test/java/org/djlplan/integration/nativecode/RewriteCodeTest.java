package org.djlplan.integration.nativecode;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the code that rewrites TorchScript modules under sanitizers. A library with the symbols of
 * libtorch, whose modules are only texts, replaces libtorch.
 */
class RewriteCodeTest {

    @TempDir Path folder;

    @Test
    void rewriter_goodAndBadUses_violatesNoMemory() throws Exception {
        NativeProgram program = new NativeProgram(folder);
        NativeProgram.Checker checker = program.memoryChecker();
        Path check =
                program.compileAlone(
                        checker,
                        List.of(
                                NativeProgram.SOURCES.resolve("check_rewrite.cpp"),
                                NativeProgram.LIBRARY.resolve("torch_rewrite.cpp")));
        Path source = NativeProgram.SOURCES.resolve("fake_torch.cpp");
        for (List<String> each :
                List.of(
                        List.of("-DSOUND", "sound"),
                        List.of("-DLARGE", "another size"),
                        List.of("-DOTHER_LAYOUT", "another layout"),
                        List.of("-DNO_CLEANING", "libtorch has no"))) {
            Path library = program.compileLibrary("libtorch_cpu.so", source, each.get(0));
            program.assertOk(checker, List.of(check.toString(), library.toString(), each.get(1)));
        }
    }
}
