package org.djlplan.delegation.internal.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;
import org.djlplan.delegation.internal.FakeModel;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.delegation.internal.store.KeptAnswers.PartialResult;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.store.FolderStore;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that an interrupted measurement continues where it stopped, even if its answers were stored
 * in a file in between.
 */
class KeptAnswersTest {

    private static final Candidate CPU = Candidate.cpu(1);
    private static final Candidate ALL = new Candidate(ImmutableSortedSet.of(0, 1, 2, 5, 6), 1);
    private static final Candidate BAD = new Candidate(ImmutableSortedSet.of(5), 1);
    private static final StoreKey KEY = new StoreKey("net", Map.of("threads", "1"));

    @TempDir private Path folder;

    /** A runner that records each step, and whose clock advances by 1000 ns at each step. */
    private static final class NotingRunner implements CandidateRunner {

        private final List<String> steps = new ArrayList<>();
        private List<Set<Integer>> reported = List.of(Set.of(0, 1, 2), Set.of(5, 6));
        private long nanos;

        private void step(String step, Candidate candidate) {
            steps.add(step + " " + candidate.operators().size());
            nanos += 1000;
        }

        @Override
        public List<Set<Integer>> partitions() {
            steps.add("partitions");
            return reported;
        }

        @Override
        public Trial prepare(Candidate candidate) throws CandidateException {
            step("prepare", candidate);
            if (candidate.equals(BAD)) {
                throw new CandidateException(CandidateException.Kind.CRASHED, "SIGSEGV");
            }
            return new Trial(
                    candidate.delegates() ? 1 : 0,
                    List.of(new OutputError(ElementType.FLOAT32, Double.POSITIVE_INFINITY)),
                    4096,
                    5);
        }

        @Override
        public long[] time(Candidate candidate, int inferences) {
            step("time", candidate);
            long[] times = new long[inferences];
            for (int i = 0; i < inferences; i++) {
                times[i] = 100L * steps.size() + i;
            }
            return times;
        }

        @Override
        public List<NodeTime> profile(Candidate candidate, int inferences) {
            step("profile", candidate);
            return List.of(new NodeTime(ImmutableSortedSet.of(7), false, 9));
        }

        @Override
        public long workedNanos() {
            return nanos;
        }

        @Override
        public void release(Candidate candidate) {
            steps.add("release " + candidate.operators().size());
        }

        @Override
        public void close() {}
    }

    private FolderStore<PartialResult> store() {
        FakeModel model = new FakeModel(folder);
        Goal goal = new Goal(Objective.LATENCY, OptionalLong.empty());
        return KeptAnswers.store(
                model,
                new Request(model.graph(), goal, List.of(1), Optional.empty(), Tolerance.AUTO));
    }

    /** Returns the stored answers. Each answer is stored at once, as if it had taken long. */
    private static PartialResult answered(NotingRunner inner) throws Exception {
        List<PartialResult> kept = new ArrayList<>();
        try (KeptAnswers runner =
                new KeptAnswers(inner, Path.of("net"), Optional.empty(), 0, kept::add)) {
            runner.partitions();
            runner.prepare(CPU);
            runner.profile(CPU, 3);
            runner.time(CPU, 2);
            runner.time(CPU, 3);
            runner.prepare(ALL);
            assertThrows(CandidateException.class, () -> runner.prepare(BAD));
        }
        return kept.get(kept.size() - 1);
    }

    @Test
    void interrupted_throughAFile_givesTheSameAnswersAndRunsNothingAgain() throws Exception {
        PartialResult kept = answered(new NotingRunner());
        store().save(KEY, kept);
        PartialResult loaded = store().load(KEY).orElseThrow();
        assertEquals(kept, loaded);

        NotingRunner inner = new NotingRunner();
        try (KeptAnswers runner =
                new KeptAnswers(inner, Path.of("net"), Optional.of(loaded), 0, known -> {})) {
            assertEquals(inner.reported, runner.partitions());
            assertEquals(List.of("partitions"), inner.steps);
            inner.steps.clear();
            assertEquals(1, runner.prepare(CPU).errors().size());
            assertEquals(9, runner.profile(CPU, 3).get(0).nanos());
            assertArrayEquals(new long[] {400, 401}, runner.time(CPU, 2));
            assertArrayEquals(new long[] {500, 501, 502}, runner.time(CPU, 3));
            runner.release(CPU);
            assertEquals(4096, runner.prepare(ALL).memoryBytes());
            CandidateException e =
                    assertThrows(CandidateException.class, () -> runner.prepare(BAD));
            assertEquals(CandidateException.Kind.CRASHED, e.kind());
            assertEquals("SIGSEGV", e.getMessage());
            assertEquals(List.of(), inner.steps);
            // The time of the stored answers counts, too.
            assertTrue(runner.workedNanos() >= 3000, () -> "" + runner.workedNanos());

            runner.time(ALL, 2);
            assertEquals(List.of("prepare 5", "time 5"), inner.steps);
            runner.time(CPU, 1);
            assertEquals(List.of("prepare 0", "time 0"), inner.steps.subList(2, 4));
            runner.release(ALL);
            assertEquals("release 5", inner.steps.get(4));
        }
    }

    @Test
    void partitions_otherThanStored_ignoresAnswersWithOneWarning() throws Exception {
        PartialResult kept = answered(new NotingRunner());
        NotingRunner inner = new NotingRunner();
        inner.reported = List.of(Set.of(0, 1, 2), Set.of(6));
        try (LogCapture log = new LogCapture();
                KeptAnswers runner =
                        new KeptAnswers(inner, Path.of("net"), Optional.of(kept), 0, known -> {})) {
            assertEquals(inner.reported, runner.partitions());
            assertEquals(inner.reported, runner.partitions());
            runner.prepare(CPU);
            runner.profile(CPU, 3);
            runner.time(CPU, 2);
            assertEquals(List.of("partitions", "prepare 0", "profile 0", "time 0"), inner.steps);
            assertEquals(1, log.lines("WARN").size(), log.lines()::toString);
        }
    }

    @Test
    void prepare_beforePartitionsAreKnown_usesNoStoredAnswer() throws Exception {
        NotingRunner inner = new NotingRunner();
        try (KeptAnswers runner =
                new KeptAnswers(
                        inner,
                        Path.of("net"),
                        Optional.of(answered(new NotingRunner())),
                        0,
                        known -> {})) {
            runner.prepare(CPU);
            assertEquals(List.of("prepare 0"), inner.steps);
        }
    }

    @Test
    void load_damagedFile_isNothing() throws Exception {
        store().save(KEY, answered(new NotingRunner()));
        Path file;
        try (Stream<Path> files =
                Files.list(new FakeModel(folder).file().resolveSibling(".djlplan"))) {
            file = files.findFirst().orElseThrow();
        }
        Files.writeString(file, Files.readString(file).replace("4096", "4097"));
        try (LogCapture log = new LogCapture()) {
            assertEquals(Optional.empty(), store().load(KEY));
            assertEquals(1, log.lines("WARN").size());
        }
    }

    @Test
    void remove_stored_isDeleted() throws Exception {
        store().save(KEY, answered(new NotingRunner()));
        store().remove(KEY);
        store().remove(KEY);
        assertEquals(Optional.empty(), store().load(KEY));
    }
}
