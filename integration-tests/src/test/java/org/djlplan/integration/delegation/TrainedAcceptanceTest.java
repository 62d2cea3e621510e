package org.djlplan.integration.delegation;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.djlplan.integration.converted.Conversion;
import org.djlplan.integration.delegation.FaultyDelegate.Fault;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.internal.candidates.CandidateInterpreters;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests trained models that were converted to 8-bit and 4-bit integers: a correct delegate is
 * accepted, and a fault in any operator is rejected.
 */
@Tag("djl-current")
@NeedsModels(RealModels.TFLITE)
class TrainedAcceptanceTest {

    private static final int SITES = 3;

    /** Faults that are more than a rounding in any operator. */
    private static final ImmutableList<Fault> FAULTS =
            ImmutableList.of(Fault.SHIFTED, Fault.STRIDE, Fault.STALE, Fault.ROW);

    @TempDir static Path folder;

    @BeforeAll
    static void load() {
        StockInterpreter.loadEngine();
    }

    @ParameterizedTest
    @CsvSource({
        "face_detection_short_range, DYNAMIC_RANGE",
        "face_detection_short_range, FOUR_BITS",
        "face_detection_short_range, INT8",
        "face_detection_short_range, UINT8",
        "hand_landmark_lite, DYNAMIC_RANGE",
        "hand_landmark_lite, INT8",
        "palm_detection_lite, DYNAMIC_RANGE",
        "palm_detection_lite, INT8",
        "onet, DYNAMIC_RANGE",
        "onet, FOUR_BITS",
        "onet, INT8",
        "hand_landmark_lite, UINT8",
        "MobileFaceNet, INT8"
    })
    void admits_everythingInXnnpack_isRight(String model, Conversion conversion) throws Exception {
        Path file = conversion.file(model);
        try (CandidateInterpreters runner = Served.candidates(file, Delegates.XNNPACK)) {
            Candidate all = new Candidate(FixedChoice.operators(file, Delegates.XNNPACK), 1);
            assertTrue(all.delegates());
            List<OutputError> errors = runner.prepare(all).errors();
            assertTrue(Closeness.accepted(errors), errors.toString());
        }
    }

    @ParameterizedTest
    @CsvSource({"onet, DYNAMIC_RANGE", "onet, INT8", "face_detection_short_range, UINT8"})
    void admits_faultInOneOperator_isRefused(String model, Conversion conversion) throws Exception {
        Path file = conversion.file(model);
        Graph graph = TfLiteGraphs.toGraph(TfLiteReader.read(file), model);
        List<Integer> sites =
                FaultyDelegate.allOver(
                        graph.operators().stream()
                                .filter(operator -> operator.type().equals("CONV_2D"))
                                .map(Operator::index)
                                .toList(),
                        SITES);
        FaultyDelegate delegate = FaultyDelegate.compile(folder);
        delegate.claim(sites, true);
        Candidate all = new Candidate(FixedChoice.operators(file, delegate.name()), 1);
        try (CandidateInterpreters runner = Served.candidates(file, delegate.name())) {
            for (int site : sites) {
                for (Fault fault : FAULTS) {
                    delegate.select(site, fault);
                    List<OutputError> errors = runner.prepare(all).errors();
                    runner.release(all);
                    assertFalse(
                            Closeness.accepted(errors), () -> site + " " + fault + ": " + errors);
                }
            }
        }
    }
}
