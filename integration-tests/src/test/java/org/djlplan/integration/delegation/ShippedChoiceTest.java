package org.djlplan.integration.delegation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.djlplan.integration.support.Freed;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that other machines use the results of one machine, from an archive or from the model's
 * folder.
 */
class ShippedChoiceTest {

    @TempDir static Path folder;
    private static Path tuned;
    private static Path archive;
    private static String choiceId;

    /** Measures once for all tests. */
    @BeforeAll
    static void measure() throws Exception {
        StockInterpreter.loadEngine();
        tuned = machine("tuned");
        try (ZooModel<NDList, NDList> model = load(tuned, "delegation.profile", "blocking:1s")) {
            DelegationReport report = report(model);
            assertEquals(Origin.MEASURED, report.origin(), report.reason());
            assertTrue(report.delegatedOperators() > 0, report.reason());
            choiceId = report.choiceId();
        }
        archive = folder.resolve("net.zip");
        try (OutputStream bytes = Files.newOutputStream(archive);
                ZipOutputStream zip = new ZipOutputStream(bytes);
                Stream<Path> files = Files.walk(tuned.getParent())) {
            for (Path each : files.filter(Files::isRegularFile).toList()) {
                zip.putNextEntry(new ZipEntry(tuned.getParent().relativize(each).toString()));
                Files.copy(each, zip);
            }
        }
    }

    @AfterEach
    void everythingIsFreed() {
        Freed.assertEverything();
    }

    private static Path machine(String name) throws Exception {
        return ModelCopy.of("mobilenet_v2", Files.createDirectory(folder.resolve(name)));
    }

    private static PlannedTranslatorFactory factory(Object... options) {
        PlannedTranslatorFactory factory =
                new PlannedTranslatorFactory().with("memplan.threads", 1);
        for (int i = 0; i < options.length; i += 2) {
            factory = factory.with((String) options[i], options[i + 1]);
        }
        return factory;
    }

    private static ZooModel<NDList, NDList> load(Path file, Object... options) throws Exception {
        return Criteria.builder()
                .setTypes(NDList.class, NDList.class)
                .optModelPath(file)
                .optEngine("TFLite")
                .optTranslatorFactory(factory(options))
                .build()
                .loadModel();
    }

    private static DelegationReport report(ZooModel<NDList, NDList> model) {
        return PlanReport.of(model).orElseThrow().delegation().orElseThrow();
    }

    private static void assertTheSame(ZooModel<NDList, NDList> model) throws Exception {
        assertEquals(Origin.STORED, report(model).origin(), report(model).reason());
        assertEquals(choiceId, report(model).choiceId());
        assertEquals(1, report(model).threads());
    }

    @Test
    void load_profileFromAnArchive_isTheSameChoice() throws Exception {
        Path file = machine("pinned");
        try (ZooModel<NDList, NDList> model =
                load(file, "delegation.profileFrom", archive, "delegation.onMissing", "fail")) {
            assertTheSame(model);
            try (StockInterpreter stock = new StockInterpreter(file, 1)) {
                List<ByteBuffer> inputs = stock.randomInputs(1);
                List<ByteBuffer> outputs = Planned.predict(model, inputs, stock.shapes());
                assertEquals(outputs, Planned.predict(model, inputs, stock.shapes()));
            }
        }
    }

    /** Two jobs in one JVM: one job's choice does not affect the other. */
    @Test
    void load_otherPinsAtOnce_eachServesItsOwn() throws Exception {
        Path file = machine("two-pins");
        try (StockInterpreter stock = new StockInterpreter(file, 1);
                ZooModel<NDList, NDList> pinned =
                        load(
                                file,
                                "delegation.profileFrom",
                                archive,
                                "delegation.onMissing",
                                "fail");
                ZooModel<NDList, NDList> cpu = load(file, "delegation.onMissing", "cpu")) {
            List<ByteBuffer> inputs = stock.randomInputs(1);
            List<ByteBuffer> delegated = Planned.predict(pinned, inputs, stock.shapes());
            for (int i = 0; i < 3; i++) {
                assertEquals(stock.run(inputs), Planned.predict(cpu, inputs, stock.shapes()));
                assertEquals(delegated, Planned.predict(pinned, inputs, stock.shapes()));
            }
            assertTheSame(pinned);
            assertEquals(0, report(cpu).delegatedOperators());
        }
    }

    /** DJL extracts the archive to its cache, with the measured result. */
    @Test
    void load_modelInAnArchive_bringsItsChoice() throws Exception {
        Criteria<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optModelUrls(archive.toUri().toString())
                        .optModelName("mobilenet_v2")
                        .optEngine("TFLite")
                        .optTranslatorFactory(factory("delegation.onMissing", "fail"))
                        .build();
        try (ZooModel<NDList, NDList> model = criteria.loadModel()) {
            assertTheSame(model);
        }
    }

    @Test
    void load_noStoredResult_failsWithAdvice() throws Exception {
        Path file = machine("bare");
        Exception error =
                assertThrows(
                        Exception.class, () -> load(file, "delegation.onMissing", "fail").close());
        String message = Throwables.getRootCause(error).getMessage();
        assertTrue(message.contains("djlplan tune"), message);
        assertTrue(message.contains("threads=1"), message);
        try (ZooModel<NDList, NDList> model = load(file, "delegation.onMissing", "cpu")) {
            assertEquals(0, report(model).delegatedOperators());
            assertEquals(Origin.UNVERIFIED, report(model).origin());
        }
    }

    /** The option names a file, which a model's folder may not do. */
    @Test
    void load_profileFromInArguments_isAnError() throws Exception {
        Path file = machine("folder");
        Map<String, Object> options = Map.of("delegation.profileFrom", archive.toString());
        Exception error = assertThrows(Exception.class, () -> Planned.load(file, options).close());
        String message = Throwables.getRootCause(error).getMessage();
        assertTrue(message.contains("-Ddjlplan.delegation.profileFrom"), message);
    }
}
