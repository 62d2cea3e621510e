package org.djlplan.integration.tflite.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.djlplan.integration.support.ChildJvm;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.tflite.Probe;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests changes to the file of a loaded model, and unusual locations of the file. */
class ModelFileTest {

    private static final Path FILE = TestModels.built("blaze_face");

    @TempDir Path folder;

    @Test
    void load_readOnlyFolder_plansAndWritesNothingThere() throws Exception {
        Path file = Files.copy(FILE, folder.resolve("face.tflite"));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r--r--r--"));
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("r-xr-xr-x"));
        try (StockInterpreter stock = new StockInterpreter(file, -1);
                ZooModel<NDList, NDList> model = Planned.load(file, Map.of());
                Stream<Path> after = Files.list(folder)) {
            List<ByteBuffer> inputs = stock.randomInputs(1);
            assertEquals(stock.run(inputs), Planned.predict(model, inputs, stock.shapes()));
            assertTrue(PlanReport.of(model).orElseThrow().planned());
            assertEquals(List.of(file), after.toList());
        } finally {
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
    }

    @Test
    void predict_fileReplacedByRename_usesTheOldBytes() throws Exception {
        Path file = Files.copy(FILE, folder.resolve("model.tflite"));
        Path other = Files.copy(TestModels.built("chains"), folder.resolve("other"));
        try (StockInterpreter stock = new StockInterpreter(FILE, -1);
                ZooModel<NDList, NDList> model = Planned.load(file, Map.of())) {
            Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);
            assertPredictsAs(stock, model);
            // A model loaded now is the new one; both models work at the same time.
            try (StockInterpreter newStock = new StockInterpreter(file, -1);
                    ZooModel<NDList, NDList> newModel = Planned.load(file, Map.of())) {
                assertPredictsAs(newStock, newModel);
                assertPredictsAs(stock, model);
            }
            Files.delete(file);
            assertPredictsAs(stock, model);
        }
    }

    private static void assertPredictsAs(StockInterpreter stock, ZooModel<NDList, NDList> model)
            throws Exception {
        List<ByteBuffer> inputs = stock.randomInputs(2);
        assertEquals(stock.run(inputs), Planned.predict(model, inputs, stock.shapes()));
        assertTrue(PlanReport.of(model).orElseThrow().planned());
    }

    @Test
    void predict_fileTruncatedInPlace_isAnErrorInsteadOfACrash() throws Exception {
        assertNoticed("truncate");
    }

    @Test
    void predict_fileOverwrittenInPlace_isAnError() throws Exception {
        assertNoticed("overwrite");
    }

    private void assertNoticed(String what) throws Exception {
        Path file = Files.copy(FILE, folder.resolve("model.tflite"));
        ChildJvm.Result result = new ChildJvm(folder).run(Probe.class, what, file.toString());
        assertEquals(0, result.exitCode(), result.out() + result.err());
        assertEquals(
                List.of(
                        "true",
                        "IllegalStateException "
                                + file
                                + " was changed in place after it was loaded: load the model again",
                        "1",
                        "closed"),
                result.out().lines().toList());
    }

    /** If JNA cannot be loaded, it fails differently the second time. Both models run as stock. */
    @Test
    void load_twiceWithoutJna_runsAsStockWithAWarningEach() throws Exception {
        ChildJvm.Result result =
                new ChildJvm(folder)
                        .options(
                                "-Djna.nosys=true",
                                "-Djna.noclasspath=true",
                                "-Djna.boot.library.path=" + folder)
                        .run(Probe.class, "zeros", FILE.toString(), FILE.toString());
        assertEquals(0, result.exitCode(), result.out() + result.err());
        assertEquals(List.of("2 outputs", "2 outputs"), result.out().lines().toList());
        long warnings = result.err().lines().filter(l -> l.contains("cannot be loaded: ")).count();
        assertEquals(2, warnings, result.err());
    }
}
