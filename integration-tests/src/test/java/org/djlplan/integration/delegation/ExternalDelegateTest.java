package org.djlplan.integration.delegation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.djlplan.cli.demo.Activation;
import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.NetworkBuilder;
import org.djlplan.delegation.internal.ProfileStore;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.integration.nativecode.NativeProgram;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.Tolerance;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.memplan.internal.store.Kept;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.NativeDelegate;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.collect.Iterables;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests delegates of a user: a class, and libraries that implement TensorFlow Lite's
 * external-delegate interface. Some of them are faulty.
 */
class ExternalDelegateTest {

    @TempDir Path folder;

    @Test
    void goodDelegate_chosenByMeasuringOrNot_computesTheSame() throws Exception {
        Path file = model();
        Map<String, Object> arguments = arguments("GOOD");
        try (ZooModel<NDList, NDList> model = Planned.load(file, arguments)) {
            assertSame(file, model);
            assertEquals(Origin.MEASURED, report(model).origin());
        }
        // Delegates all additions by force: a choice that this test makes must work, too.
        assertSameWithAllAdditions(file, arguments);
    }

    /** A delegate that a class of the application makes. */
    public static final class OfThisClass implements DelegateFactory {

        @Override
        public NativeDelegate create(int threads) {
            return Delegates.named(Delegates.XNNPACK).create(threads);
        }
    }

    @Test
    void delegateOfAClass_isMeasuredInAProcessWithTheApplicationsClasses() throws Exception {
        Path file = model();
        String delegate = "class:" + OfThisClass.class.getName();
        try (ZooModel<NDList, NDList> model =
                Planned.load(file, delegation(delegate, "blocking:3s"))) {
            assertSame(file, model);
            assertEquals(Origin.MEASURED, report(model).origin());
        }
        assertFalse(kept(file).value().partitions().isEmpty());
    }

    /** The delegate takes nothing but additions. */
    @Test
    void goodDelegate_itsOperatorsExcluded_isLeftOut() throws Exception {
        Path file = model();
        Map<String, Object> arguments = new HashMap<>(arguments("GOOD"));
        arguments.put("delegation.exclude", "ADD");
        try (ZooModel<NDList, NDList> model = Planned.load(file, arguments);
                StockInterpreter stock = new StockInterpreter(file, 1)) {
            assertEquals(Origin.MEASURED, report(model).origin());
            assertEquals(0, report(model).delegatedOperators());
            List<ByteBuffer> inputs = stock.randomInputs(1);
            assertEquals(stock.run(inputs), Planned.predict(model, inputs, stock.shapes()));
        }
        Kept<ProfileTable> kept = kept(file);
        assertEquals(List.of(), kept.value().partitions());
        assertEquals("2.6.2", kept.key().facts().get("native"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"WRONG", "CRASH", "REFUSE"})
    void badDelegate_costsTheCandidateOnly_andIsRemembered(String odd) throws Exception {
        Path file = model();
        Map<String, Object> arguments = arguments(odd);
        assertNotDelegated(file, arguments, 1);
        assertEquals(Origin.STORED, assertNotDelegated(file, arguments, 0));
    }

    @Test
    void noDelegate_libraryOfSomethingElse_oneWarning() throws Exception {
        Path library = Files.writeString(folder.resolve("no.so"), "no library");
        assertNotDelegated(model(), delegation(library.toString(), "blocking"), 1);
    }

    /** Asserts that a model runs without its delegate, and returns where this choice is from. */
    private static Origin assertNotDelegated(Path file, Map<String, Object> arguments, int warnings)
            throws Exception {
        try (LogCapture log = LogCapture.echoing();
                ZooModel<NDList, NDList> model = Planned.load(file, arguments)) {
            assertSame(file, model);
            assertEquals(0, report(model).delegatedOperators());
            assertEquals(warnings, log.ours("WARN").size(), log.ours("WARN").toString());
            return report(model).origin();
        }
    }

    private Kept<ProfileTable> kept(Path file) throws Exception {
        return Iterables.getOnlyElement(ProfileStore.list(file, folder.resolve("cache")));
    }

    private static Map<String, Object> delegation(String delegate, String profile) {
        return Map.of("delegation.delegate", delegate, "delegation.profile", profile);
    }

    private void assertSameWithAllAdditions(Path file, Map<String, Object> arguments)
            throws Exception {
        FixedChoice.Outcome outcome =
                FixedChoice.run(file, arguments.get("delegation.delegate").toString());
        assertTrue(outcome.report().delegatedOperators() > 0);
        assertEquals(
                outcome.report().delegatedOperators(),
                FixedChoice.count(file, "ADD"),
                "additions delegated");
        Tolerance.assertWithin(outcome.expected(), outcome.outputs(), file.toString());
    }

    /** Returns a model with three additions, each a partition of its own. */
    private Path model() throws Exception {
        NetworkBuilder network = new NetworkBuilder("sums", 1);
        LayerOutput x = network.input("in", 1, 32, 32, 16);
        for (int i = 0; i < 3; i++) {
            x = network.add(x, network.conv2d(x, 16, 3, 1, Activation.RELU6), Activation.NONE);
        }
        Path file = folder.resolve("sums.tflite");
        TfLiteWriter.write(network.output(x).build(), file);
        return file;
    }

    private Map<String, Object> arguments(String odd) throws Exception {
        Path library =
                new NativeProgram(folder)
                        .compileLibrary(
                                "libodd.so",
                                NativeProgram.SOURCES.resolve("odd_delegate.c"),
                                "-DODD=" + odd);
        return Map.of(
                "delegation.delegate", library.toString(),
                "delegation.profile", "blocking:3s",
                "memplan.threads", "1");
    }

    private static DelegationReport report(ZooModel<NDList, NDList> model) {
        return PlanReport.of(model).orElseThrow().delegation().orElseThrow();
    }

    private static void assertSame(Path file, ZooModel<NDList, NDList> model) throws Exception {
        try (StockInterpreter stock = new StockInterpreter(file, 1)) {
            List<ByteBuffer> values = stock.randomInputs(7);
            Tolerance.assertWithin(
                    stock.run(values),
                    Planned.predict(model, values, stock.shapes()),
                    file.toString());
        }
    }
}
