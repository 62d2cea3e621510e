package org.djlplan.integration.nativecode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.djlplan.integration.support.Bits;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the native library with the real engine under sanitizers. */
class NativeCodeTest {

    private static final int CHANNELS = 5;

    @TempDir Path folder;

    @Test
    void nativeLibrary_goodAndBadUses_violatesNothing() throws Exception {
        Path model = model().write(folder.resolve("model.tflite"));
        String engine = engineLibrary();
        NativeProgram program = new NativeProgram(folder);
        NativeProgram.Checker checker = program.memoryChecker();
        Path check = program.compile(checker, List.of(NativeProgram.SOURCES.resolve("check.c")));
        program.assertOk(checker, List.of(check.toString(), engine, model.toString()));
    }

    @Test
    void sources_areFormatted() throws Exception {
        new NativeProgram(folder).assertFormatted();
    }

    @Test
    @Tag("long")
    void attach_manyThreads_haveNoRaces() throws Exception {
        NativeProgram program = new NativeProgram(folder);
        checkAttaching(program, program.threadChecker(), "loaded");
    }

    @Test
    void attach_whileTheEngineIsLoadedAndUnloaded_endsAndKeepsNothing() throws Exception {
        NativeProgram program = new NativeProgram(folder);
        checkAttaching(program, program.memoryChecker(), "changing");
    }

    private static void checkAttaching(
            NativeProgram program, NativeProgram.Checker checker, String how) throws Exception {
        Path check =
                program.compile(checker, List.of(NativeProgram.SOURCES.resolve("check_attach.c")));
        Path library =
                program.compileLibrary(
                        "libtensorflowlite_jni.so", NativeProgram.SOURCES.resolve("fake_tflite.c"));
        program.assertOk(checker, List.of(check.toString(), library.toString(), how));
    }

    /** Returns the file of this process's engine library. */
    private static String engineLibrary() throws IOException {
        StockInterpreter.loadEngine();
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return maps.filter(line -> line.endsWith("/libtensorflowlite_jni.so"))
                    .map(line -> line.substring(line.indexOf('/')))
                    .findFirst()
                    .orElseThrow();
        }
    }

    /** Returns convolutions with temporaries, and an operator after each; the height is free. */
    private static ModelSketch model() {
        Random random = new Random(1);
        ModelSketch model = new ModelSketch();
        Form image = Form.of(ElementType.FLOAT32, 1, 4, 6, CHANNELS);
        int x = model.input(image);
        for (int i = 0; i < 3; i++) {
            Form weights = Form.of(ElementType.FLOAT32, CHANNELS, 3, 3, CHANNELS);
            Form bias = Form.of(ElementType.FLOAT32, CHANNELS);
            FlatTable options =
                    FlatTable.of("Conv2DOptions").with("stride_w", 1).with("stride_h", 1);
            x =
                    model.operator(
                            "CONV_2D",
                            Optional.of(options),
                            image,
                            x,
                            model.constant(weights, Bits.mild(weights.bytes(), random)),
                            model.constant(bias, Bits.mild(bias.bytes(), random)));
            x = model.operator("TANH", Optional.empty(), image, x);
        }
        return model.output(x);
    }
}
