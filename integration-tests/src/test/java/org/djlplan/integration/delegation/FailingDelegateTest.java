package org.djlplan.integration.delegation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.integration.nativecode.NativeProgram;
import org.djlplan.integration.support.Freed;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.integration.support.Tolerance;
import org.djlplan.memplan.internal.candidates.CandidateInterpreters;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.NativeDelegate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a delegate affects nothing else if it fails when it runs or closes. */
@Timeout(120)
class FailingDelegateTest {

    private static final AtomicInteger LIVE = new AtomicInteger();
    private static final Path FILE = TestModels.built("mobilenet_v2");

    /** The library of {@link FromLibrary}'s delegates. */
    private static volatile Path library;

    @TempDir Path folder;

    @BeforeAll
    static void loadEngine() {
        StockInterpreter.loadEngine();
    }

    @AfterEach
    void everythingIsFreed() {
        assertEquals(0, LIVE.get());
        Freed.assertEverything();
    }

    /** Counts the delegates of a library. */
    public static final class FromLibrary implements DelegateFactory {

        @Override
        public NativeDelegate create(int threads) {
            NativeDelegate inner = Delegates.named(library.toString()).create(threads);
            LIVE.incrementAndGet();
            return new NativeDelegate() {
                @Override
                public long handle() {
                    return inner.handle();
                }

                @Override
                public void close() {
                    inner.close();
                    LIVE.decrementAndGet();
                }
            };
        }
    }

    private void compile(String odd) throws Exception {
        library =
                new NativeProgram(folder)
                        .compileLibrary(
                                "libodd.so",
                                NativeProgram.SOURCES.resolve("odd_delegate.c"),
                                "-DODD=" + odd);
    }

    private static DelegationChoice additions() throws Exception {
        SortedSet<Integer> operators = FixedChoice.operators(FILE, library.toString());
        assertFalse(operators.isEmpty());
        return new DelegationChoice(new Candidate(operators, 1), Origin.MEASURED, "a test");
    }

    private static ServedModel open(DelegateFactory delegates, DelegationChoice choice)
            throws Exception {
        return Served.open(FILE, delegates, choice);
    }

    private static List<ByteBuffer> predict(ServedModel runtime, StockInterpreter stock) {
        return runtime.run(stock.randomInputs(1), stock.shapes()).stream()
                .map(OutputTensor::data)
                .toList();
    }

    @Test
    void prepare_candidateThatFailsInItsFirstRun_isClosedAtOnce() throws Exception {
        compile("FAIL");
        Candidate candidate = additions().candidate();
        try (CandidateInterpreters runner =
                Served.candidates(FILE, "class:" + FromLibrary.class.getName())) {
            for (int i = 0; i < 3; i++) {
                CandidateException refused =
                        assertThrows(CandidateException.class, () -> runner.prepare(candidate));
                assertEquals(CandidateException.Kind.REFUSED, refused.kind());
                assertEquals(0, LIVE.get());
            }
            assertTrue(runner.prepare(Candidate.cpu(1)).inferences() > 0);
        }
    }

    @Test
    void report_afterGivingUpAndASwitch_saysWhyNothingIsPlanned() throws Exception {
        compile("CHANGE");
        DelegationChoice choice = additions();
        DelegationChoice cpu = new DelegationChoice(Candidate.cpu(1), Origin.MEASURED, "a test");
        try (StockInterpreter stock = new StockInterpreter(FILE, 1);
                ServedModel runtime = open(new FromLibrary(), choice)) {
            List<ByteBuffer> expected = stock.run(stock.randomInputs(1));
            Tolerance.assertWithin(expected, predict(runtime, stock), "planned");
            assertTrue(runtime.report().planned());
            Tolerance.assertWithin(expected, predict(runtime, stock), "given up");
            assertGivenUp(runtime.report(), 2);
            runtime.switchTo(cpu);
            assertGivenUp(runtime.report(), 2);
            Tolerance.assertWithin(expected, predict(runtime, stock), "switched");
            assertGivenUp(runtime.report(), 3);
            assertEquals(0, runtime.report().delegation().orElseThrow().delegatedOperators());
        }
    }

    private static void assertGivenUp(PlanReport report, int predictions) {
        assertEquals(
                Optional.of("the engine's tensors changed after planning"),
                report.unplannedReason());
        assertFalse(report.planned());
        assertEquals(0, report.plan().arenaBytes());
        assertEquals(predictions, report.predictions().total());
        assertEquals(predictions - 1, report.predictions().unplanned());
    }

    @Test
    void close_delegateThatThrows_freesTheModel() throws Exception {
        compile("GOOD");
        DelegateFactory throwing =
                threads -> {
                    NativeDelegate inner = new FromLibrary().create(threads);
                    return new NativeDelegate() {
                        @Override
                        public long handle() {
                            return inner.handle();
                        }

                        @Override
                        public void close() {
                            inner.close();
                            throw new UnsupportedOperationException();
                        }
                    };
                };
        try (StockInterpreter stock = new StockInterpreter(FILE, 1);
                ServedModel runtime = open(throwing, additions())) {
            List<ByteBuffer> expected = stock.run(stock.randomInputs(1));
            Tolerance.assertWithin(expected, predict(runtime, stock), "delegated");
            runtime.switchTo(additions());
            Tolerance.assertWithin(expected, predict(runtime, stock), "switched");
        }
    }

    /** The engine would dereference address 0. */
    @Test
    void open_delegateWithoutAHandle_delegatesNothing() throws Exception {
        compile("GOOD");
        DelegateFactory empty =
                threads ->
                        new NativeDelegate() {
                            @Override
                            public long handle() {
                                return 0;
                            }

                            @Override
                            public void close() {}
                        };
        try (StockInterpreter stock = new StockInterpreter(FILE, 1);
                ServedModel runtime = open(empty, additions())) {
            assertEquals(stock.run(stock.randomInputs(1)), predict(runtime, stock));
            assertTrue(runtime.report().planned());
            assertEquals(0, runtime.report().delegation().orElseThrow().delegatedOperators());
        }
    }
}
