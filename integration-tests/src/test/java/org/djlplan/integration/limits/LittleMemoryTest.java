package org.djlplan.integration.limits;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.djlplan.cli.demo.MobileNetV2;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that a model runs in its engine's memory if there is too little memory, or address space,
 * for an arena.
 */
class LittleMemoryTest {

    private static final String SMALL = "1,3,32,32";
    private static final String LARGE = "1,3,256,256";

    /** Makes the C library keep memory that the engine frees, so that the engine has enough. */
    private static final String KEEP_FREED =
            "export MALLOC_ARENA_MAX=1 MALLOC_TRIM_THRESHOLD_=1000000000"
                    + " MALLOC_MMAP_THRESHOLD_=1000000000";

    @TempDir Path folder;

    private Path torchModel() throws Exception {
        Path model = Files.createTempDirectory(folder, "cnn").resolve("cnn.pt");
        return Files.copy(TorchScriptModels.named("cnn").file(), model);
    }

    private void assertGoesOn(List<String> arguments, String after, Optional<String> warning)
            throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .small()
                        .after(KEEP_FREED)
                        .run(LimitedMemory.class, arguments.toArray(String[]::new));
        assertEquals(0, result.exitCode(), result.printed());
        assertTrue(result.out().strip().endsWith("OK"), result.printed());
        assertTrue(result.out().contains("before true"), result.printed());
        assertTrue(result.out().contains("after " + after), result.printed());
        assertEquals(warning.isPresent() ? 1 : 0, result.warnings().size(), result.printed());
        for (String cause : warning.stream().toList()) {
            assertTrue(result.warnings().get(0).contains(cause), result.printed());
        }
    }

    /** The arena has them already. */
    @Test
    void predict_addressesRunOutLater_pytorchContinues() throws Exception {
        String file = torchModel().toString();
        assertGoesOn(
                List.of("PyTorch", file, "addresses", "64", SMALL, LARGE),
                "true elsewhere false",
                Optional.empty());
    }

    /** The system refuses memory itself, so arrays without room are left to the engine. */
    @Test
    void predict_memoryRunsOutLater_pytorchContinues() throws Exception {
        String file = torchModel().toString();
        assertGoesOn(
                List.of("PyTorch", file, "data", "10", SMALL, LARGE),
                "true elsewhere true",
                Optional.empty());
    }

    @Test
    void predict_addressesRunOut_tfliteContinues() throws Exception {
        Path file = folder.resolve("mobilenet.tflite");
        TfLiteWriter.write(MobileNetV2.build(1), file);
        assertGoesOn(
                List.of("TFLite", file.toString(), "addresses", "20", "1,224,224,3"),
                "false",
                Optional.of("ulimit -v"));
    }

    /** If the stock engine runs under a limit of addresses, djl-plan does, too. */
    @Tag("long")
    @Test
    void load_limitedAddresses_runsWhereStockDoes() throws Exception {
        List<String> outcomes = new ArrayList<>();
        for (String engine : List.of("TFLite", "PyTorch")) {
            for (long megabytes : new long[] {2500, 3000, 4000, 8000}) {
                String file =
                        (engine.equals("TFLite") ? TestModels.built("chains") : torchModel())
                                .toString();
                String shape = engine.equals("TFLite") ? "1,32,32,8" : SMALL;
                ChildJvm.Result stock = limited(megabytes, "stock", engine, file, shape);
                if (stock.exitCode() == 0) {
                    ChildJvm.Result planned = limited(megabytes, "planned", engine, file, shape);
                    assertEquals(0, planned.exitCode(), megabytes + planned.printed());
                    String answer = last(stock);
                    assertEquals(answer, last(planned).substring(0, answer.length()));
                    outcomes.add(engine);
                }
            }
        }
        assertTrue(outcomes.contains("TFLite") && outcomes.contains("PyTorch"), "" + outcomes);
    }

    private ChildJvm.Result limited(long megabytes, String... arguments) throws Exception {
        return new ChildJvm(folder)
                .small()
                .options("-XX:CompressedClassSpaceSize=64m", "-XX:ReservedCodeCacheSize=48m")
                .after("ulimit -v " + megabytes * 1024)
                .run(Application.class, arguments);
    }

    private static String last(ChildJvm.Result result) {
        return result.out().strip().lines().reduce((first, last) -> last).orElseThrow();
    }
}
