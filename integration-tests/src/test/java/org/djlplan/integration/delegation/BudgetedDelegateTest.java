package org.djlplan.integration.delegation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.djlplan.integration.delegation.FaultyDelegate.Fault;
import org.djlplan.integration.support.BudgetModels;
import org.djlplan.integration.support.Forgery;
import org.djlplan.integration.support.Freed;
import org.djlplan.integration.support.Near;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.StreamedOnly;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.internal.config.BudgetResolver;
import org.djlplan.memplan.internal.config.GivenOptions;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.serving.BudgetedKernels;
import org.djlplan.memplan.internal.serving.BudgetedModel;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.DelegationProvider.Terms;
import org.djlplan.memplan.spi.NativeDelegate;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.memplan.testing.Await;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests wrong, slow and late delegates inside a budget, and the stored results of their trials. */
@Timeout(120)
class BudgetedDelegateTest {

    private static final String BUDGET = "44MB";
    private static final String EIGHT_BITS = "wide_int8";
    private static final String BUDGET_OF_EIGHT_BITS = "55MB";
    private static final int SLOW_PREDICTIONS = 5;

    /** The smallest limit of the acceptance rule for delegated outputs. */
    private static final double LIMIT = 1e-4;

    /** Several loads, because on a busy machine a delegate may be slower during its trial. */
    private static final int LOADS = 8;

    /** More inferences than in a delegate's first trial, but fewer than when it is timed again. */
    private static final int SLOW_TRIALS = 14;

    /** Time limit for one selection. */
    private static final Duration SELECTED = Duration.ofSeconds(15);

    private static final Duration LONGEST = Duration.ofSeconds(30);

    @TempDir Path folder;

    private Path file;
    private List<List<Integer>> shapes;
    private List<ByteBuffer> input;
    private ByteBuffer expected;

    private String budget = BUDGET;

    @BeforeEach
    void copy() throws Exception {
        StockInterpreter.loadEngine();
        copy(BudgetModels.SMALL_RESNET.file());
    }

    private void copy(Path model) throws Exception {
        Path own = Files.createDirectories(folder.resolve("model"));
        file = Files.copy(model, own.resolve("model.tflite"), StandardCopyOption.REPLACE_EXISTING);
        try (StockInterpreter stock = new StockInterpreter(file, 1)) {
            shapes = stock.shapes();
            input = stock.randomInputs(1);
            expected = stock.run(input).get(0);
        }
    }

    /** Counts the delegates that are made. */
    private static final class Counting implements DelegateFactory {

        private final DelegateFactory inner;
        private final AtomicInteger made = new AtomicInteger();

        Counting(String name) {
            inner = Delegates.named(name);
        }

        @Override
        public NativeDelegate create(int threads) {
            made.incrementAndGet();
            return inner.create(threads);
        }
    }

    private BudgetedModel open(String name, DelegateFactory delegates, boolean whileLoading)
            throws Exception {
        return BudgetedModel.open(
                file,
                PlanOptions.parse(
                        GivenOptions.of(
                                Map.of("memplan.budget", budget, "memplan.threads", 1),
                                Map.of(),
                                Map.of(),
                                List.of())),
                folder,
                new StreamedOnly(
                        Optional.of(
                                new BudgetedKernels(
                                        name,
                                        delegates,
                                        new Terms(
                                                Tolerance.AUTO, OptionalLong.empty(), whileLoading),
                                        folder))),
                BudgetResolver::new);
    }

    private BudgetedModel open(boolean whileLoading) throws Exception {
        return open(Delegates.XNNPACK, Delegates.named(Delegates.XNNPACK), whileLoading);
    }

    private static BudgetReport report(BudgetedModel model) {
        return model.report().budget().orElseThrow();
    }

    private ByteBuffer run(BudgetedModel model) {
        List<OutputTensor> outputs = model.run(input, shapes);
        return outputs.get(0).data();
    }

    private void assertNear(BudgetedModel model) {
        double error = Near.relativeError(run(model), expected);
        assertTrue(error <= LIMIT, "error: " + error);
    }

    private Path kept() throws IOException {
        return Forgery.kept(file, ".kernels.json");
    }

    /** Loads the model until operators are delegated, which is then stored. */
    private BudgetReport selected() throws Exception {
        for (int i = 0; i < LOADS; i++) {
            try (BudgetedModel model = open(true)) {
                if (report(model).delegatedOperators() > 0) {
                    return report(model);
                }
            }
        }
        throw new AssertionError("nothing was ever delegated");
    }

    @Test
    void open_selectedBefore_delegatesTheSameWithoutATrial() throws Exception {
        BudgetReport before = selected();
        String text = Files.readString(kept());
        Counting delegates = new Counting(Delegates.XNNPACK);
        try (BudgetedModel model = open(Delegates.XNNPACK, delegates, true)) {
            assertEquals(before.delegatedOperators(), report(model).delegatedOperators());
            assertEquals(before.delegatedBytes(), report(model).delegatedBytes());
            assertEquals(before.arenaBytes(), report(model).arenaBytes());
            assertNear(model);
            // One delegate inspects the model, one serves.
            assertEquals(2, delegates.made.get());
        }
        assertEquals(text, Files.readString(kept()));
        Freed.assertEverything();
    }

    @Test
    void open_damagedStoredSelection_warnsOnceAndSelectsAgain() throws Exception {
        BudgetReport unused = selected();
        Path damaged = kept();
        Files.writeString(
                damaged,
                Files.readString(damaged).replace("\"operators\":[", "\"operators\":[9999,"));
        try (LogCapture log = new LogCapture();
                BudgetedModel model = open(false)) {
            assertEquals(0, report(model).delegatedOperators());
            assertEquals(expected, run(model));
            assertEquals(1, log.ours("WARN").size(), () -> log.lines().toString());
            assertTrue(log.ours("WARN").get(0).contains("made again"), log.lines().toString());
        }
        unused = selected();
        assertFalse(Files.readString(damaged).contains("[9999,"));
    }

    private int madeInLoadOf(FaultyDelegate faulty) throws Exception {
        Counting delegates = new Counting(faulty.name());
        try (BudgetedModel model = open("faulty", delegates, true)) {
            assertEquals(0, report(model).delegatedOperators());
            assertEquals(0, report(model).delegatedBytes());
            assertEquals(expected, run(model));
        }
        return delegates.made.get();
    }

    private boolean isKept() throws IOException {
        try (Stream<Path> files = Files.list(file.resolveSibling(".djlplan"))) {
            return files.anyMatch(each -> each.toString().endsWith(".kernels.json"));
        }
    }

    private List<Integer> additions() throws IOException {
        return TfLiteGraphs.toGraph(TfLiteReader.read(file), "model").operators().stream()
                .filter(operator -> operator.type().equals("ADD"))
                .map(operator -> operator.index())
                .toList();
    }

    /** Other work slows the machine during the delegate's trial, and then ends. */
    @Test
    @Tag("long")
    void run_slowInFirstTrial_delegatesAnyway() throws Exception {
        FaultyDelegate faulty = FaultyDelegate.compile(folder);
        faulty.claim(FaultyDelegate.allOver(additions(), 2), true);
        boolean delegates = false;
        for (int i = 0; !delegates && i < LOADS; i++) {
            faulty.slow(SLOW_TRIALS);
            try (BudgetedModel model = open("faulty", Delegates.named(faulty.name()), false)) {
                delegates = Await.within(SELECTED, () -> report(model).delegatedOperators() > 0);
                assertNear(model);
            }
        }
        assertTrue(delegates);
        assertEquals(0, faulty.slowLeft());
        Freed.assertEverything();
    }

    @Test
    void open_wrongOutputs_staysInCpuKernelsAndTriesNotAgain() throws Exception {
        List<Integer> additions = additions();
        FaultyDelegate faulty = FaultyDelegate.compile(folder);
        faulty.claim(additions, true);
        faulty.select(FaultyDelegate.EVERY, Fault.CHANNEL_ZERO);
        // A delegate that took more memory than available, as measured in a busy process, gets no
        // stored verdict.
        int first = madeInLoadOf(faulty);
        for (int i = 1; i < LOADS && !isKept(); i++) {
            first = madeInLoadOf(faulty);
        }
        String judged = Files.readString(kept());
        // One more delegate is made, and tried, if nothing is stored yet.
        assertTrue(madeInLoadOf(faulty) < first, "nothing was tried");
        assertEquals(judged, Files.readString(kept()));
        Freed.assertEverything();
    }

    private void copyEightBits() throws Exception {
        copy(TestModels.built(EIGHT_BITS));
        budget = BUDGET_OF_EIGHT_BITS;
    }

    @Test
    @Tag("djl-current")
    void open_eightBits_delegatesCorrectOperators() throws Exception {
        copyEightBits();
        BudgetReport unused = selected();
        assertTrue(Files.readString(kept()).contains("\"operator\":"), Files.readString(kept()));
        Freed.assertEverything();
    }

    /**
     * Rounding explains the differences of the model's outputs, but not those of the operators'.
     */
    @Test
    @Tag("djl-current")
    void open_eightBitsWithWrongOperators_staysInCpuKernels() throws Exception {
        copyEightBits();
        FaultyDelegate faulty = FaultyDelegate.compile(folder);
        faulty.claim(List.of(0), true);
        faulty.select(FaultyDelegate.EVERY, Fault.ELEMENT);
        int unused = madeInLoadOf(faulty);
        for (int i = 1; i < LOADS && !isKept(); i++) {
            unused = madeInLoadOf(faulty);
        }
        assertTrue(isKept());
        Freed.assertEverything();
    }

    @Test
    void run_slowAgainAndAgain_goesBackToCpuKernels() throws Exception {
        BudgetReport unused = selected();
        // According to the file, the CPU kernels took less than a third of each prediction's time.
        Forgery.change(
                kept(),
                "kernels",
                value -> {
                    JsonObject trial = value.getAsJsonArray("faster").get(0).getAsJsonObject();
                    trial.addProperty("cpuNanos", 2);
                });
        try (BudgetedModel model = open(false)) {
            assertTrue(report(model).delegatedOperators() > 0);
            for (int i = 0; i < SLOW_PREDICTIONS; i++) {
                assertNear(model);
            }
            long end = System.nanoTime() + LONGEST.toNanos();
            while (report(model).delegatedOperators() > 0 && System.nanoTime() < end) {
                Thread.sleep(10);
                assertNear(model);
            }
            assertEquals(0, report(model).delegatedOperators());
            assertEquals(expected, run(model));
        }
        Freed.assertEverything();
    }

    /** Blocks each request for a delegate until the test allows it. */
    private static final class Late implements DelegateFactory {

        private final CountDownLatch asked = new CountDownLatch(1);
        private final CountDownLatch allowed = new CountDownLatch(1);

        @Override
        public NativeDelegate create(int threads) {
            if (Thread.currentThread().getName().equals("djl-plan-background")) {
                asked.countDown();
                try {
                    allowed.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
            return Delegates.named(Delegates.XNNPACK).create(threads);
        }
    }

    @Test
    void run_whileKernelsAreSelected_doesNotWait() throws Exception {
        Late delegates = new Late();
        try (BudgetedModel model = open(Delegates.XNNPACK, delegates, false)) {
            try {
                delegates.asked.await();
                for (int i = 0; i < 10; i++) {
                    assertEquals(expected, run(model));
                }
            } finally {
                delegates.allowed.countDown();
            }
            for (int i = 0; i < 50; i++) {
                assertNear(model);
            }
        }
        Freed.assertEverything();
    }
}
