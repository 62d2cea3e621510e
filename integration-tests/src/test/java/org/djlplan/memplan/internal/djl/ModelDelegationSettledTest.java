package org.djlplan.memplan.internal.djl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.util.Progress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.djlplan.cli.demo.Activation;
import org.djlplan.cli.demo.LayerOutput;
import org.djlplan.cli.demo.NetworkBuilder;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.DelegationProvider;
import org.djlplan.memplan.spi.Option;
import org.djlplan.memplan.testing.Await;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests when a delegation counts as settled while the provider chooses for other shapes, or if the
 * provider fails to choose.
 */
@Tag("djl-current")
@Timeout(200)
class ModelDelegationSettledTest {

    private static final DelegationChoice UNVERIFIED =
            new DelegationChoice(Candidate.cpu(1), Origin.UNVERIFIED, "it is being measured");

    private static final Candidate DELEGATED = new Candidate(ImmutableSortedSet.of(0), 1);

    private static final DelegationChoice MEASURED =
            new DelegationChoice(Candidate.cpu(1), Origin.MEASURED, "a test");

    @TempDir Path folder;

    private final BlockingQueue<Answer> requests = new LinkedBlockingQueue<>();

    /** Thrown by the provider when it should choose for other shapes. */
    private Optional<Error> error = Optional.empty();

    /** The provider's first choice for other shapes. */
    private DelegationChoice first = UNVERIFIED;

    private ModelDelegation delegation;
    private ServedModel served;
    private StockInterpreter stock;

    /** The provider's choice for one mix of shapes. */
    private static final class Answer implements DelegationProvider.Choosing {

        private final DelegationChoice first;
        private final Consumer<DelegationChoice> better;
        private final boolean settledWhenAsked;
        private final AtomicBoolean ended = new AtomicBoolean();
        private volatile boolean closed;

        Answer(
                DelegationChoice first,
                Consumer<DelegationChoice> better,
                boolean settledWhenAsked) {
            this.first = first;
            this.better = better;
            this.settledWhenAsked = settledWhenAsked;
        }

        @Override
        public DelegationChoice first() {
            return first;
        }

        @Override
        public boolean isSettled() {
            return ended.get();
        }

        @Override
        public void close() {
            closed = true;
            ended.set(true);
        }
    }

    private final class Provider implements DelegationProvider {

        @Override
        public List<Option> options() {
            return List.of();
        }

        @Override
        public void check(Map<String, String> options) {}

        @Override
        public DelegationProvider.Choosing choose(
                DelegableModel model,
                Map<String, String> options,
                Optional<Progress> progress,
                Consumer<DelegationChoice> better) {
            Answer choosing = new Answer(UNVERIFIED, better, false);
            choosing.ended.set(true);
            return choosing;
        }

        @Override
        public Optional<DelegationProvider.Choosing> chooseAtShapes(
                DelegableModel model,
                Map<String, String> options,
                Consumer<DelegationChoice> better) {
            Answer choosing = new Answer(first, better, delegation.isSettled());
            requests.add(choosing);
            if (error.isPresent()) {
                throw error.get();
            }
            return Optional.of(choosing);
        }
    }

    @BeforeEach
    void open() throws Exception {
        NetworkBuilder network = new NetworkBuilder("shapes", 1);
        LayerOutput x = network.input("input", 1, 32, 32, 3);
        Path file = folder.resolve("shapes.tflite");
        x = network.conv2d(x, 4, 3, 2, Activation.RELU);
        TfLiteWriter.write(network.output(x).build(), file);
        stock = new StockInterpreter(file, 1);
        PlanOptions options =
                Served.options(Map.of("memplan.threads", 1, "delegation.enabled", "every-shape"));
        delegation = new ModelDelegation(file, new Provider(), options, Optional.empty());
        served = ServedModel.open(file, options, Served.planner(), Optional.of(delegation));
    }

    @AfterEach
    void close() {
        served.close();
        stock.close();
    }

    private void predict(int times, int smallest) throws Exception {
        for (int i = 0; i < times; i++) {
            int size = smallest + 8 * (i % 4);
            stock.resize(1, size, size, 3);
            List<OutputTensor> unused = served.run(stock.randomInputs(i), stock.shapes());
        }
    }

    private Answer next() throws InterruptedException {
        Answer choosing = requests.poll(60, TimeUnit.SECONDS);
        assertTrue(choosing != null, "nothing was requested");
        assertFalse(choosing.settledWhenAsked);
        return choosing;
    }

    @Test
    void isSettled_providerThrowsAnError_isTrueAfterwards() throws Exception {
        error = Optional.of(new StackOverflowError("a test"));
        assertTrue(delegation.isSettled());
        predict(32, 40);
        next();
        Await.until(delegation::isSettled);
    }

    /** The first choice stays, because no better one follows. */
    @Test
    void isSettled_measurementFails_isTrueAfterwards() throws Exception {
        predict(32, 40);
        Answer choosing = next();
        assertFalse(delegation.isSettled());
        choosing.ended.set(true);
        Await.until(delegation::isSettled);
    }

    @Test
    void better_storedChoiceProvesWrong_delegatesNothingAtItsShapes() throws Exception {
        first = new DelegationChoice(DELEGATED, Origin.STORED, "a test");
        predict(32, 40);
        Answer choosing = next();
        Await.until(delegation::isSettled);
        assertTrue(described().contains("1 operators delegated"), this::described);
        choosing.better.accept(UNVERIFIED);
        assertTrue(described().contains("CPU kernels"), this::described);
        assertFalse(delegation.isSettled());
        choosing.better.accept(MEASURED);
        assertTrue(delegation.isSettled());
    }

    private String described() {
        return served.report().delegation().orElseThrow().toString();
    }

    @Test
    void isSettled_supersededOneAnswersLate_isFalseUntilTheOtherAnswers() throws Exception {
        predict(32, 40);
        Answer first = next();
        first.better.accept(MEASURED);
        assertTrue(delegation.isSettled());
        predict(64, 200);
        assertFalse(delegation.isSettled());
        Answer second = next();
        assertTrue(first.closed);
        first.better.accept(MEASURED);
        assertFalse(delegation.isSettled());
        second.better.accept(MEASURED);
        assertTrue(delegation.isSettled());
        assertEquals(0, requests.size());
    }
}
