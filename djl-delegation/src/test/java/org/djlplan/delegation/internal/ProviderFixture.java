package org.djlplan.delegation.internal;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.delegation.internal.Background.Patience;
import org.djlplan.delegation.internal.Measurement.Profiling;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.report.OutputAgreement;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.DelegationProvider.Choosing;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A delegation provider for a fake model, with a replaceable measurement. */
abstract class ProviderFixture {

    static final ProfileTable TABLE = SampleTables.small(2);
    static final Profiling MEASURING = (request, runner, progress, verified) -> TABLE;

    static final Profiling NEVER =
            (request, runner, progress, verified) -> {
                throw new AssertionError("nothing is to be measured");
            };

    static final Candidate CPU = Candidate.cpu(2);
    static final Candidate ALL = new Candidate(ImmutableSortedSet.of(0, 1, 2, 5, 6), 2);

    /** Returns the choice of {@code TABLE}. */
    static DelegationChoice chosen(Origin origin) {
        return new DelegationChoice(
                TABLE.chosen(),
                List.of(),
                origin,
                TABLE.reason(),
                List.of(OutputAgreement.of("t" + FakeModel.OPERATORS, 2.2e-6, 0, 1e-4)));
    }

    static final Patience SHORT =
            new Patience(Duration.ZERO, Duration.ofMillis(300), Duration.ofMillis(10));

    @TempDir Path folder;
    FakeModel model;
    final LogCapture log = new LogCapture();
    final AtomicInteger profiles = new AtomicInteger();
    final BlockingQueue<DelegationChoice> better = new LinkedBlockingQueue<>();

    @BeforeEach
    void makeModel() {
        model = new FakeModel(folder);
    }

    @AfterEach
    void stop() throws InterruptedException, IOException {
        afterwards();
        log.close();
    }

    /** Waits until the background thread has done all work that was queued before. */
    void afterwards() throws InterruptedException, IOException {
        FakeModel last = new FakeModel(Files.createTempDirectory(folder, "last"));
        BlockingQueue<DelegationChoice> switched = new LinkedBlockingQueue<>();
        new MeasuredDelegation(MEASURING, SHORT)
                .choose(last, Map.of(), Optional.empty(), switched::add);
        assertNotNull(switched.poll(20, TimeUnit.SECONDS));
    }

    StoreKey key(List<Integer> threads) throws IOException {
        return ProfileStore.key(
                model,
                new Request(
                        model.graph(),
                        new Goal(Objective.LATENCY, OptionalLong.empty()),
                        threads,
                        Optional.empty(),
                        Tolerance.AUTO));
    }

    MeasuredDelegation provider(Profiling profiling, Patience patience) {
        return new MeasuredDelegation(
                (request, runner, progress, verified) -> {
                    profiles.incrementAndGet();
                    return profiling.profile(request, runner, progress, verified);
                },
                patience);
    }

    MeasuredDelegation provider(Profiling profiling) {
        return provider(profiling, SHORT);
    }

    Choosing choose(Profiling profiling, String... options) {
        Map<String, String> map =
                options.length == 0
                        ? Map.of("delegation.profile", "background:10ms")
                        : Map.of(
                                "delegation.profile",
                                options[0].equals("off") ? "off" : options[0] + ":10ms");
        return provider(profiling).choose(model, map, Optional.empty(), better::add);
    }

    DelegationChoice nextBetter() throws InterruptedException {
        return Optional.ofNullable(better.poll(20, TimeUnit.SECONDS)).orElseThrow();
    }
}
