package org.djlplan.integration.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.thirdparty.guava.collect.ObjectArrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Counts the classes that a JVM's first planned row loads. Loading them is most of the row's extra
 * time, which {@code FirstRowBench} measures.
 */
@Tag("djl-current")
class FirstRowClassesTest {

    /** The limit, including classes that the JVM makes of lambdas; there are 342. */
    private static final int MOST = 360;

    /** The limit with PyTorch, where a rewrite of the model is looked up; there are 786. */
    private static final int MOST_OF_PYTORCH = 805;

    @TempDir Path folder;

    @Test
    void firstRow_planned_loadsFewClassesMoreThanPlain() throws Exception {
        Path model = folder.resolve("model.tflite");
        Files.copy(TestModels.built("mobilenet_v2"), model);
        long plain = classes(model.toString());
        long planned = classes(model.toString(), "delegation.enabled=false", "memplan.threads=1");
        assertTrue(plain > 1000, plain + " classes");
        assertTrue(planned - plain <= MOST, plain + " and " + planned + " classes");
    }

    @Test
    void firstPredictions_ofPyTorchPlanned_loadFewClassesMoreThanStock() throws Exception {
        Path model = Torch.copy(TorchScriptModels.named("cnn"), folder);
        String[] rest = {model.toString(), "1,3,32,48", "floats", "20"};
        long plain = classes(ColdStartProgram.class, ObjectArrays.concat("stock", rest));
        long planned = classes(ColdStartProgram.class, ObjectArrays.concat("planned", rest));
        assertTrue(plain > 1000, plain + " classes");
        assertTrue(planned - plain <= MOST_OF_PYTORCH, plain + " and " + planned + " classes");
    }

    private long classes(String... arguments) throws Exception {
        return classes(FirstRowProgram.class, arguments);
    }

    private long classes(Class<?> program, String... arguments) throws Exception {
        Path log = folder.resolve("classes.log");
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .small()
                        .options("-Xlog:class+load:file=" + log)
                        .run(program, arguments);
        assertEquals(0, result.exitCode(), result.printed());
        try (Stream<String> lines = Files.lines(log)) {
            return lines.filter(line -> line.contains(" source: ")).count();
        }
    }
}
