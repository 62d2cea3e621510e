package org.djlplan.integration.delegation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.djlplan.integration.converted.Conversion;
import org.djlplan.integration.delegation.FaultyDelegate.Fault;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.internal.candidates.CandidateInterpreters;
import org.djlplan.memplan.internal.measure.TfLiteDelegableModel;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.internal.store.FileIdentity;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.DelegableModel.Urgency;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.OutputError.ByOperator;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests 8-bit models, whose delegates are compared operator by operator. A correct delegate is
 * accepted however far rounding moves the outputs; a fault in any operator is rejected.
 */
@Tag("djl-current")
class OperatorAcceptanceTest {

    private static final String DENSE = "dense";

    /** Faults that are more than a rounding in any operator. */
    private static final Set<Fault> FAULTS =
            EnumSet.of(
                    Fault.BORDER,
                    Fault.CHANNEL_ZERO,
                    Fault.SHIFTED,
                    Fault.STRIDE,
                    Fault.STALE,
                    Fault.SWAPPED,
                    Fault.ROW);

    private static final ImmutableSet<String> SITES =
            ImmutableSet.of("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED");

    @TempDir static Path folder;

    private static FaultyDelegate delegate;

    @BeforeAll
    static void compile() throws Exception {
        StockInterpreter.loadEngine();
        delegate = FaultyDelegate.compile(folder);
    }

    private static Path file(String model) throws Exception {
        return model.equals(DENSE) ? dense() : TestModels.built(model);
    }

    /** Writes three layers with 8-bit weights for rows of floats, as converters do. */
    private static Path dense() throws Exception {
        ModelSketch model = new ModelSketch();
        Random random = new Random(5);
        int[] widths = {96, 128, 64, 32};
        int x = model.input(ElementType.FLOAT32, 16, widths[0]);
        for (int i = 1; i < widths.length; i++) {
            byte[] weights = new byte[widths[i] * widths[i - 1]];
            random.nextBytes(weights);
            int constant =
                    model.constant(
                            Form.of(ElementType.INT8, widths[i], widths[i - 1]).scaled(2e-3f, 0),
                            ByteBuffer.wrap(weights));
            Form output = Form.of(ElementType.FLOAT32, 16, widths[i]);
            x =
                    model.operator(
                            "FULLY_CONNECTED",
                            Optional.of(FlatTable.of("FullyConnectedOptions")),
                            output,
                            x,
                            constant,
                            ModelSketch.ABSENT);
        }
        model.output(x);
        return model.write(Files.createTempDirectory(folder, DENSE).resolve("dense.tflite"));
    }

    private static Candidate all(Path file, String of) throws Exception {
        return new Candidate(FixedChoice.operators(file, of), 1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "mobilenet_v1_uint8_64",
                "mobilenet_v2_int8_64",
                "mobilenet_v2_dynamic_64",
                "quantized_classes",
                "quantized_landmarks",
                DENSE
            })
    void admits_everythingInXnnpack_isRightHoweverFarOutputsAre(String model) throws Exception {
        for (OutputError error : acceptedInXnnpack(file(model))) {
            assertTrue(error.byOperator().orElseThrow().isRight(), error.toString());
        }
    }

    @NeedsModels(RealModels.TFLITE)
    @ParameterizedTest
    @CsvSource({
        "face_detection_short_range, DYNAMIC_RANGE",
        "face_detection_short_range, FOUR_BITS",
        "face_detection_short_range, INT8",
        "face_detection_short_range, UINT8",
        "hand_landmark_lite, DYNAMIC_RANGE",
        "hand_landmark_lite, INT8",
        "hand_landmark_lite, UINT8",
        "palm_detection_lite, DYNAMIC_RANGE",
        "palm_detection_lite, INT8",
        "onet, DYNAMIC_RANGE",
        "onet, FOUR_BITS",
        "onet, INT8"
    })
    void admits_trainedModelInXnnpack_isRight(String model, Conversion conversion)
            throws Exception {
        assertFalse(acceptedInXnnpack(conversion.file(model)).isEmpty());
    }

    private static List<OutputError> acceptedInXnnpack(Path file) throws Exception {
        Candidate all = all(file, Delegates.XNNPACK);
        assertTrue(all.delegates());
        try (CandidateInterpreters runner = Served.candidates(file, Delegates.XNNPACK)) {
            List<OutputError> errors = runner.prepare(all).errors();
            assertTrue(Closeness.accepted(errors), errors.toString());
            return errors;
        }
    }

    @Test
    @Tag("long")
    void admits_faultInOneOperatorOfDynamicRange_isRefusedAndNamed() throws Exception {
        admits_faultInOneOperator_isRefusedAndNamed("mobilenet_v2_dynamic_64");
    }

    @ParameterizedTest
    @ValueSource(strings = {"mobilenet_v2_int8_64", DENSE})
    void admits_faultInOneOperator_isRefusedAndNamed(String model) throws Exception {
        assertRefused(file(model), FAULTS, SITES, true);
    }

    /** Trained models may hide the other faults. */
    @NeedsModels(RealModels.TFLITE)
    @ParameterizedTest
    @CsvSource({"onet, DYNAMIC_RANGE", "onet, INT8", "face_detection_short_range, UINT8"})
    void admits_faultInOneOperatorOfATrainedModel_isRefused(String model, Conversion conversion)
            throws Exception {
        assertRefused(
                conversion.file(model),
                EnumSet.of(Fault.SHIFTED, Fault.STRIDE, Fault.STALE, Fault.ROW),
                ImmutableSet.of("CONV_2D"),
                false);
    }

    private static void assertRefused(
            Path file, Set<Fault> faults, Set<String> types, boolean named) throws Exception {
        Graph graph = TfLiteGraphs.toGraph(TfLiteReader.read(file), file.toString());
        List<Integer> weighted =
                graph.operators().stream()
                        .filter(operator -> types.contains(operator.type()))
                        .map(Operator::index)
                        .toList();
        List<Integer> sites = FaultyDelegate.allOver(weighted, 3);
        delegate.claim(sites, true);
        Candidate all = all(file, delegate.name());
        try (CandidateInterpreters runner = Served.candidates(file, delegate.name())) {
            for (int site : sites) {
                for (Fault fault : faults) {
                    delegate.select(site, fault);
                    List<OutputError> errors = runner.prepare(all).errors();
                    runner.release(all);
                    String what = site + " " + fault + ": " + errors;
                    assertFalse(Closeness.accepted(errors), what);
                    if (named) {
                        assertEquals(
                                site, errors.get(0).byOperator().orElseThrow().operator(), what);
                    }
                }
            }
        }
    }

    /** Here the operators compute correctly one by one, but the served outputs differ from that. */
    @Test
    void admits_faultThatPasses_isRefused() throws Exception {
        Path file = file("mobilenet_v2_int8_64");
        int site = 10;
        delegate.claim(List.of(site), true);
        Candidate all = all(file, delegate.name());
        try (CandidateInterpreters runner = Served.candidates(file, delegate.name())) {
            delegate.select(site, Fault.CHANNEL_ZERO, 5);
            List<OutputError> errors = runner.prepare(all).errors();
            assertFalse(Closeness.accepted(errors), errors.toString());
            assertEquals(
                    Double.POSITIVE_INFINITY,
                    errors.get(0).byOperator().map(ByOperator::share).orElseThrow());
        }
    }

    /** Then no copies can be made, so its operators cannot be compared. */
    @Test
    void admits_modelFileDeleted_comparesTheOperatorsOfTheOpenFile() throws Exception {
        Path file = Files.copy(file("mobilenet_v2_int8_64"), folder.resolve("gone.tflite"));
        Candidate all = all(file, Delegates.XNNPACK);
        try (CandidateInterpreters runner = Served.candidates(file, Delegates.XNNPACK)) {
            Files.delete(file);
            List<OutputError> errors = runner.prepare(all).errors();
            assertTrue(errors.get(0).byOperator().isPresent(), errors.toString());
            assertTrue(Closeness.accepted(errors), errors.toString());
        }
    }

    /** The process's heap has room for all values of the model's tensors. */
    @Test
    @Tag("long")
    void newProcess_networkForUsualImages_isComparedByItsOperators() throws Exception {
        Path file = TestModels.built("mobilenet_v2_dynamic");
        TfLiteDelegableModel model =
                new TfLiteDelegableModel(
                        file,
                        FileIdentity.text(file),
                        TfLiteGraphs.toGraph(TfLiteReader.read(file), "mobilenet_v2_dynamic"),
                        folder,
                        Served.options(Map.of()),
                        EngineLibrary.loaded(),
                        Optional.empty());
        try (CandidateRunner runner = model.newProcess(Urgency.AWAITED, Tolerance.AUTO)) {
            List<OutputError> errors = runner.prepare(all(file, Delegates.XNNPACK)).errors();
            assertTrue(Closeness.accepted(errors), errors.toString());
            assertTrue(errors.get(0).byOperator().isPresent(), errors.toString());
        }
    }
}
