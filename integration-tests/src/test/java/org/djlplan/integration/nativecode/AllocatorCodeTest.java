package org.djlplan.integration.nativecode;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the code that intercepts libtorch's allocator, and the allocator for ONNX Runtime, under
 * sanitizers. Libraries that have only an allocator replace the engines. The function tables of
 * these allocators have the layouts of real versions, or invalid layouts.
 */
class AllocatorCodeTest {

    @TempDir Path folder;
    private NativeProgram program;

    @BeforeEach
    void createProgram() {
        program = new NativeProgram(folder);
    }

    @Test
    void allocator_goodAndBadUses_violatesNoMemory() throws Exception {
        NativeProgram.Checker checker = program.memoryChecker();
        Path check = compile(checker);
        program.assertOk(checker, List.of(check.toString(), engine(), "sound"));
        // Once attached, the same code runs with either table: threads need only one of them.
        program.assertOk(checker, List.of(check.toString(), engine("-DOLD_TABLE"), "one-thread"));
    }

    /** Tests the places of blocks without a plan, on numbers only. */
    @Test
    void firstFit_besideANaiveOne_findsTheSamePlaces() throws Exception {
        NativeProgram.Checker checker = program.memoryChecker();
        Path check =
                program.compile(
                        checker, List.of(NativeProgram.SOURCES.resolve("check_first_fit.c")));
        program.assertOk(checker, List.of(check.toString()));
    }

    @Test
    @Tag("long")
    void allocator_manyThreads_haveNoRaces() throws Exception {
        NativeProgram.Checker checker = program.threadChecker();
        Path check = compile(checker);
        program.assertOk(checker, List.of(check.toString(), engine(), "sound"));
        program.assertOk(checker, List.of(check.toString(), engine("-DOLD_TABLE"), "sound"));
    }

    @Test
    @Tag("long")
    void attach_symbolsMissing_leavesTheEngineAlone() throws Exception {
        NativeProgram.Checker checker = program.memoryChecker();
        Path check = compile(checker);
        program.assertOk(
                checker, List.of(check.toString(), engine("-DNO_SETTER"), "no function to set"));
        program.assertOk(
                checker,
                List.of(check.toString(), engine("-DNO_SIMPLE"), "table has another size"));
    }

    @Test
    void onnxRuntime_goodAndBadUses_violatesNoMemory() throws Exception {
        checkOnnxRuntime(program.memoryChecker());
    }

    @Test
    @Tag("long")
    void onnxRuntime_manyThreads_haveNoRaces() throws Exception {
        checkOnnxRuntime(program.threadChecker());
    }

    private void checkOnnxRuntime(NativeProgram.Checker checker) throws Exception {
        Path check =
                program.compile(checker, List.of(NativeProgram.SOURCES.resolve("check_ort.c")));
        program.assertOk(checker, List.of(check.toString(), onnxRuntime(), "sound"));
        program.assertOk(checker, List.of(check.toString(), onnxRuntime("-DOLD"), "older than"));
        program.assertOk(
                checker, List.of(check.toString(), onnxRuntime("-DNO_BASE"), "has no function"));
        program.assertOk(
                checker, List.of(check.toString(), onnxRuntime("-DTAKEN"), "registered already"));
    }

    private String onnxRuntime(String... options) throws IOException, InterruptedException {
        Path source = NativeProgram.SOURCES.resolve("fake_ort.c");
        return program.compileLibrary("libonnxruntime.so", source, options).toString();
    }

    private Path compile(NativeProgram.Checker checker) throws IOException, InterruptedException {
        return program.compile(
                checker,
                Stream.of(
                                "check_torch",
                                "check_torch_exit",
                                "check_torch_online",
                                "check_torch_replay",
                                "check_torch_threads",
                                "check_torch_weights")
                        .map(name -> NativeProgram.SOURCES.resolve(name + ".c"))
                        .toList());
    }

    /** Returns a libc10.so, which the program finds by its soname. */
    private String engine(String... options) throws IOException, InterruptedException {
        Path source = NativeProgram.SOURCES.resolve("fake_c10.c");
        return program.compileLibrary("libc10.so", source, options).toString();
    }
}
