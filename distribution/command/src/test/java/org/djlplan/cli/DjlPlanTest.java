package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.djlplan.cli.demo.Activation;
import org.djlplan.cli.demo.NetworkBuilder;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.thirdparty.guava.collect.ObjectArrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Tests usage, errors and exit codes. No test here loads a model. */
class DjlPlanTest {

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir Path folder;

    @BeforeEach
    void writeModel() throws IOException {
        TfLiteWriter.write(small(), folder.resolve("small.tflite"));
        Files.writeString(folder.resolve("text.tflite"), "not a model");
        Files.writeString(folder.resolve("model.pt"), "not a model");
        Files.writeString(folder.resolve("model.bin"), "not a model");
    }

    private static TfLiteFile small() {
        return small("in");
    }

    private static TfLiteFile small(String input) {
        NetworkBuilder network = new NetworkBuilder("small", 1);
        return network.output(
                        network.conv2d(network.input(input, 1, 8, 8, 3), 4, 3, 1, Activation.NONE))
                .build();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "run",
                "rum small.tflite",
                "run small.tflite --threads 0",
                "run small.tflite --threads two",
                "run small.tflite --iterations 0",
                "run small.tflite --warmup -1",
                "run small.tflite --timeout 0",
                "run small.tflite --engine ONNX",
                "run small.tflite --input-shape 1,8,8",
                "run small.tflite --input-shape 1,8,8,3:int8",
                "run small.tflite --stock --input-shape 1,9,9,3",
                "run small.tflite -o memplan.worker=1",
                "run small.tflite -o memplan.workers=many",
                "run small.tflite -o memplan.workers",
                "run small.tflite --stock -o memplan.workers=1",
                "run model.bin",
                "run model.pt",
                "run a b",
                "compare small.tflite --rounds 0",
                "compare small.tflite --fresh 0",
                "compare small.tflite --against tcmalloc",
                "compare small.tflite --against djl-0.27",
                "compare zoo:lenet --against djl-0.27=FOLDER",
                "compare small.tflite --against djl-0.27=A,djl-0.27=B",
                "run zoo:mobilenet",
                "run zoo:",
                "run zoo:lenet --engine tflite",
                "run zoo:lenet --input-shape 1,28",
                "run zoo:bert --input-shape 1,8 --input-shape 1,8",
                "run block:org.example.Own",
                "run block:org.example.Own --input-shape 1 --engine tflite",
                "compare small.tflite --tolerance -1",
                "compare small.tflite --no-delegation --only-delegation",
                "compare small.tflite --no-delegation -o delegation.objective=memory",
                "compare small.tflite --only-delegation -o delegation.enabled=false",
                "compare zoo:lenet --only-delegation",
                "run small.tflite --no-delegation -o delegation.objective=memory",
                "compare small.tflite --tolerance NaN",
                "demo small.tflite",
            })
    void execute_wrongUsage_exitsWith2(String line) {
        assertEquals(2, execute(line), err.toString());
        assertEquals("", out.toString());
        if (!line.isEmpty()) {
            assertOneLine();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "run absent.tflite",
                "run text.tflite",
                "run --stock text.tflite",
                "run --engine tflite FOLDER",
                "compare absent.tflite",
                "compare text.tflite --json",
                "compare small.tflite --only-delegation",
                "demo --out absent",
            })
    void execute_failure_exitsWith1AndOneLine(String line) {
        assertEquals(1, execute(line), err.toString());
        assertEquals("", out.toString());
        assertOneLine();
    }

    @Test
    void execute_optionWithoutAValue_saysOptionOnce() {
        assertEquals(2, execute("run small.tflite -o memplan.workers"));
        assertTrue(err.toString().contains("Value for option '-o'"), err.toString());
    }

    @Test
    void execute_pipe_isNoRegularFile() throws Exception {
        Path pipe = folder.resolve("pipe.tflite");
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        for (String command : List.of("plan ", "run ")) {
            err.getBuffer().setLength(0);
            assertEquals(1, execute(command + pipe));
            assertTrue(err.toString().contains("not a regular file"), err.toString());
        }
    }

    @Test
    void execute_wrongOptionKey_namesTheNearest() {
        execute("run small.tflite -o memplan.worker=1");
        assertTrue(err.toString().contains("memplan.workers"), err.toString());
    }

    @Test
    void execute_wrongNetwork_namesTheNearestAndAll() {
        execute("compare zoo:resnet51");
        assertTrue(err.toString().contains("did you mean resnet50?"), err.toString());
        assertTrue(err.toString().contains("alexnet, bert, googlenet"), err.toString());
    }

    @Test
    void check_network_hasItsUsualInputsOrOthers() {
        RunOptions usual = parse("zoo:bert");
        usual.check(true, true);
        assertEquals("1,128:int64 1,128:int64 1,128:int64", InputSpec.texts(usual.inputs()));
        RunOptions other = parse("zoo:lenet", "--input-shape", "4,1,28,28");
        other.check(true, true);
        assertEquals("4,1,28,28:float32", InputSpec.texts(other.inputs()));
        assertEquals(EngineKind.PYTORCH, other.engine());
        assertEquals(
                other.toArguments(),
                parse(other.toArguments().toArray(String[]::new)).toArguments());
    }

    @Test
    void check_openDimensions_areThoseOfTheUser() throws IOException {
        TfLiteFile file = small();
        Path open = folder.resolve("open.tflite");
        int input = file.main().inputs().get(0);
        TfLiteWriter.write(file.withShapes(Map.of(input, List.of(1, -1, 0, 3))), open);
        RunOptions none = parse("--threads", "1", open.toString());
        Exception e = assertThrows(ParameterException.class, () -> none.check(true, true));
        assertTrue(e.getMessage().contains("'in' open, [1, -1, 0, 3]: give --in"), e.getMessage());
        RunOptions given = parse("--threads", "1", "--input-shape", "1,8,9,3", open.toString());
        given.check(true, true);
        assertEquals("1,8,9,3:float32", InputSpec.texts(given.inputs()));
        assertEquals(2, execute("run open.tflite"));
        assertOneLine();
    }

    @Test
    void command_threadsOfPyTorch_areSetForTheJvm() {
        List<String> line =
                WorkerProcess.Jvm.command(parse("zoo:lenet", "--threads", "3"), false, "classes");
        assertTrue(line.contains("-Dai.djl.pytorch.num_threads=3"), line.toString());
        assertTrue(line.contains("-Dai.djl.pytorch.num_interop_threads=1"), line.toString());
    }

    @Test
    void isOptimizing_commandWithoutTheCompiler_isFalse() {
        assertTrue(WorkerProcess.Jvm.isOptimizing(List.of("-Xmx1g", "-cp", "classes", "Main")));
        assertFalse(
                WorkerProcess.Jvm.isOptimizing(
                        List.of("-XX:TieredStopAtLevel=1", "-cp", "classes", "Main")));
        assertTrue(WorkerProcess.Jvm.ownArguments().contains("-Dai.djl.offline=true"));
    }

    @Test
    void execute_demoWhosePageIsAFolder_runsNothing() throws IOException {
        Path page = Files.createDirectory(folder.resolve("djlplan-demo.html"));
        assertEquals(1, execute("demo --out FOLDER"));
        assertEquals("djlplan: a folder, not a file: " + page, err.toString().strip());
        assertEquals("", out.toString());
    }

    /** A model's file is data: its names do not steer a terminal. */
    @Test
    void execute_nameOfControlCharacters_isPrintedWithoutThem() throws IOException {
        TfLiteFile file = small("in\u001b[2J\nput");
        int input = file.main().inputs().get(0);
        TfLiteWriter.write(
                file.withShapes(Map.of(input, List.of(-1, 8, 8, 3))),
                folder.resolve("open.tflite"));
        assertEquals(2, execute("run open.tflite"));
        assertOneLine();
        assertTrue(err.toString().contains("input 'in [2J put'"), err.toString());
        assertEquals("a b [31m", Failure.describe(new Failure("a\nb\u001b[31m")));
    }

    @Test
    void execute_stackTrace_isPrintedOnDemand() {
        assertEquals(1, execute("run --stack-trace absent.tflite"));
        assertTrue(err.toString().contains("\tat "), err.toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--help",
                "run --help",
                "compare -h",
                "demo --help",
                "plan --help",
                "--version",
                "run -V"
            })
    void execute_helpOrVersion_printsToTheOutput(String line) {
        assertEquals(0, execute(line));
        assertEquals("", err.toString());
        assertFalse(out.toString().isBlank());
    }

    @Test
    void execute_help_hidesTheWorker() {
        execute("--help");
        assertFalse(out.toString().contains("worker"), out.toString());
    }

    @Test
    void toArguments_allOptions_areReadBackTheSame() {
        RunOptions options =
                parse(
                        "--engine",
                        "pytorch",
                        "--input-shape",
                        "1,3:int64",
                        "--input-shape",
                        "2",
                        "-o",
                        "a=b=c",
                        "--threads",
                        "3",
                        "--iterations",
                        "4",
                        "--warmup",
                        "0",
                        "--seed",
                        "-5",
                        "--timeout",
                        "6",
                        folder.resolve("model.pt").toString());
        List<String> line = options.toArguments();
        assertEquals(line, parse(line.toArray(String[]::new)).toArguments());
        assertTrue(
                line.containsAll(
                        List.of("PyTorch", "1,3:int64", "2", "a=b=c", "3", "4", "0", "-5", "6")));
    }

    static RunOptions parse(String... line) {
        WorkerCommand worker = new WorkerCommand();
        Parsed.register(new CommandLine(worker))
                .parseArgs(ObjectArrays.concat("--way=planned", line));
        return worker.options();
    }

    private int execute(String line) {
        String[] words = line.isEmpty() ? new String[0] : line.split(" ", -1);
        for (int i = 0; i < words.length; i++) {
            if (words[i].matches(".*\\.(tflite|pt|bin)|absent")) {
                words[i] = folder.resolve(words[i]).toString();
            } else if (words[i].equals("FOLDER")) {
                words[i] = folder.toString();
            }
        }
        return DjlPlan.commandLine()
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(words);
    }

    private void assertOneLine() {
        String text = err.toString();
        assertTrue(text.startsWith("djlplan: ") && text.lines().count() == 1, text);
    }
}
