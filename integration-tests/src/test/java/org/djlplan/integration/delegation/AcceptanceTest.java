package org.djlplan.integration.delegation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.djlplan.integration.delegation.FaultyDelegate.Fault;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.internal.candidates.CandidateInterpreters;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.OutputError;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the acceptance rule for outputs with correct delegates and with known faults. */
@OnEveryDjlWhenLong
@Timeout(120)
class AcceptanceTest {

    /** Faults of one operator that no model hides. */
    private static final Set<Fault> GROSS =
            EnumSet.of(
                    Fault.BORDER,
                    Fault.CHANNEL_ZERO,
                    Fault.SHIFTED,
                    Fault.STRIDE,
                    Fault.STALE,
                    Fault.SWAPPED);

    /** Faults that a model may hide. */
    private static final Set<Fault> SMALL =
            EnumSet.of(Fault.CHANNEL_GAIN, Fault.F16, Fault.GAIN, Fault.ELEMENT, Fault.TAIL);

    private static final int NOISE_RUNS = 16;

    @TempDir static Path folder;

    private static FaultyDelegate delegate;

    @BeforeAll
    static void compile() throws Exception {
        StockInterpreter.loadEngine();
        delegate = FaultyDelegate.compile(folder);
    }

    /** Returns the model's convolutions at these fractions of its length. */
    private static List<Integer> convolutions(Path file, double... places) throws Exception {
        Graph graph = TfLiteGraphs.toGraph(TfLiteReader.read(file), file.toString());
        List<Integer> all =
                graph.operators().stream()
                        .filter(operator -> operator.type().equals("CONV_2D"))
                        .map(Operator::index)
                        .toList();
        return Arrays.stream(places)
                .mapToObj(place -> all.get((int) (place * all.size())))
                .toList();
    }

    private static CandidateInterpreters open(Path file) throws Exception {
        return Served.candidates(file, delegate.name());
    }

    /** Returns the errors of a new interpreter that delegates everything, with a fault. */
    private static List<OutputError> errors(
            CandidateInterpreters runner, Candidate all, int site, Fault fault) throws Exception {
        delegate.select(site, fault);
        try {
            return runner.prepare(all).errors();
        } finally {
            runner.release(all);
        }
    }

    @Test
    void admits_floats_roundingButNoFaultAboveTheLimit() throws Exception {
        Path file = TestModels.built("hard_small");
        List<Integer> sites = convolutions(file, .1, .5, .9);
        delegate.claim(sites, true);
        Candidate all = new Candidate(FixedChoice.operators(file, delegate.name()), 1);
        try (CandidateInterpreters runner = open(file)) {
            List<OutputError> right = errors(runner, all, sites.get(0), Fault.NONE);
            assertTrue(Closeness.accepted(right), right.toString());
            // Some correct output must exceed a fixed limit of 1e-4; otherwise this test shows
            // nothing.
            assertTrue(right.stream().anyMatch(e -> e.difference() > 1e-4), right.toString());
            assertEquals(right, errors(runner, all, sites.get(0), Fault.DENORMALS));
            for (int site : sites) {
                assertFalse(Closeness.accepted(errors(runner, all, site, Fault.NOT_A_NUMBER)));
                for (Fault fault : GROSS) {
                    List<OutputError> errors = errors(runner, all, site, fault);
                    assertFalse(Closeness.accepted(errors), site + " " + fault + ": " + errors);
                }
                for (Fault fault : SMALL) {
                    List<OutputError> errors = errors(runner, all, site, fault);
                    assertTrue(
                            !Closeness.accepted(errors) || Closeness.inUnits(errors) <= 1,
                            site + " " + fault + ": " + errors);
                }
            }
        }
    }

    @Test
    void admits_everythingInLessPrecision_isRefused() throws Exception {
        Path file = TestModels.built("hard_small");
        Graph graph = TfLiteGraphs.toGraph(TfLiteReader.read(file), file.toString());
        delegate.claim(
                graph.operators().stream()
                        .filter(operator -> !operator.type().equals("DEQUANTIZE"))
                        .map(Operator::index)
                        .toList(),
                false);
        Candidate all = new Candidate(FixedChoice.operators(file, delegate.name()), 1);
        try (CandidateInterpreters runner = open(file)) {
            for (OutputError error : errors(runner, all, FaultyDelegate.EVERY, Fault.NONE)) {
                assertEquals(0, error.difference());
            }
            for (Fault fault : List.of(Fault.F16, Fault.BF16, Fault.INT8)) {
                List<OutputError> errors = errors(runner, all, FaultyDelegate.EVERY, fault);
                assertFalse(Closeness.accepted(errors), fault + ": " + errors);
            }
        }
    }

    @Test
    void admits_quantized_sameSumsButNoFault() throws Exception {
        Path file = TestModels.built("quantized_small");
        List<Integer> sites = convolutions(file, .1, .5, .8);
        delegate.claim(sites, false);
        Candidate all = new Candidate(FixedChoice.operators(file, delegate.name()), 1);
        try (CandidateInterpreters runner = open(file)) {
            for (int site : sites) {
                // The engine's convolutions round like exact sums that are rounded once.
                assertTrue(Closeness.accepted(errors(runner, all, site, Fault.HALF_EVEN)));
                for (Fault fault : GROSS) {
                    List<OutputError> errors = errors(runner, all, site, fault);
                    assertFalse(Closeness.accepted(errors), site + " " + fault + ": " + errors);
                }
                for (Fault fault : SMALL) {
                    List<OutputError> errors = errors(runner, all, site, fault);
                    // A fault that rounds to one step in the operator may pass, like correct
                    // rounding.
                    assertTrue(
                            !Closeness.accepted(errors)
                                    || errors.get(0).difference()
                                            <= 2 * errors.get(0).noise().largest(),
                            site + " " + fault + ": " + errors);
                }
            }
        }
    }

    @Test
    void load_delegateThatIsWrongInOneOperator_neverServesIt() throws Exception {
        Path file = ModelCopy.of("hard_small", folder);
        Graph graph = TfLiteGraphs.toGraph(TfLiteReader.read(file), file.toString());
        int site = convolutions(file, .5).get(0);
        Map<String, Object> arguments =
                Map.of(
                        "delegation.delegate",
                        FaultyDelegate.library(folder, site, Fault.CHANNEL_ZERO).toString(),
                        "delegation.profile",
                        "blocking:3s",
                        "memplan.threads",
                        "1");
        try (StockInterpreter stock = new StockInterpreter(file, 1);
                ZooModel<NDList, NDList> model = Planned.load(file, arguments)) {
            DelegationReport report = PlanReport.of(model).orElseThrow().delegation().orElseThrow();
            assertTrue(report.delegatedOperators() < graph.operators().size(), report.toString());
            List<List<ByteBuffer>> inputs = Closeness.inputs(stock, 2, 1);
            List<List<ByteBuffer>> outputs = new ArrayList<>();
            for (List<ByteBuffer> values : inputs) {
                outputs.add(Planned.predict(model, values, stock.shapes()));
            }
            List<OutputError> errors =
                    Closeness.measure(graph, stock, inputs, NOISE_RUNS).errors(outputs);
            assertTrue(Closeness.accepted(errors), report + ": " + errors);
        }
    }
}
