package org.djlplan.delegation.internal.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;
import net.jqwik.api.statistics.Statistics;
import org.djlplan.delegation.internal.FakeModel;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.delegation.internal.store.KeptAnswers.PartialResult;
import org.djlplan.delegation.internal.store.KeptAnswers.PartialResult.Failure;
import org.djlplan.delegation.internal.store.KeptAnswers.PartialResult.Known;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.store.FolderStore;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.memplan.testing.LogCapture;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.djlplan.thirdparty.guava.io.MoreFiles;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/**
 * Loads damaged files of partial answers: the result is the saved answers, or nothing and a
 * warning.
 */
class PartialFuzzTest {

    private static final StoreKey KEY = new StoreKey("net", Map.of("threads", "1,2"));
    private static final List<Set<Integer>> PARTITIONS =
            List.of(ImmutableSortedSet.of(0, 1, 2), ImmutableSortedSet.of(5, 6));

    private static Path folder;
    private static FakeModel model;
    private static Request wanted;
    private static Path file;

    @BeforeContainer
    static void makeModel() throws IOException {
        folder = Files.createTempDirectory("partial");
        model = new FakeModel(folder);
        Goal goal = new Goal(Objective.LATENCY, OptionalLong.empty());
        wanted = new Request(model.graph(), goal, List.of(1, 2), Optional.empty(), Tolerance.AUTO);
        store().save(KEY, small());
        try (Stream<Path> files = Files.list(model.file().resolveSibling(".djlplan"))) {
            file = files.findFirst().orElseThrow();
        }
    }

    @AfterContainer
    static void removeFolder() throws IOException {
        MoreFiles.deleteRecursively(folder);
    }

    private static FolderStore<PartialResult> store() {
        return KeptAnswers.store(model, wanted);
    }

    private static PartialResult small() {
        return result(
                List.of(
                        new Candidate(ImmutableSortedSet.of(), 2),
                        new Candidate(ImmutableSortedSet.of(0, 1, 2, 5, 6), 2)),
                1000,
                false);
    }

    private static PartialResult result(List<Candidate> candidates, long nanos, boolean failed) {
        Map<Candidate, Known> known = new HashMap<>();
        for (Candidate candidate : candidates) {
            known.put(candidate, known(candidate, nanos, failed));
        }
        return new PartialResult(PARTITIONS, known);
    }

    private static Known known(Candidate candidate, long nanos, boolean failed) {
        SortedSet<Integer> rest = new TreeSet<>(Set.of(3, 9));
        rest.removeAll(candidate.operators());
        List<NodeTime> cpu =
                rest.stream()
                        .map(i -> new NodeTime(ImmutableSortedSet.of(i), false, nanos + i))
                        .toList();
        Stream<NodeTime> delegated =
                candidate.delegates()
                        ? Stream.of(new NodeTime(candidate.operators(), true, nanos))
                        : Stream.of();
        return new Known(
                Optional.of(
                        new Trial(
                                candidate.delegates() ? 1 : 0,
                                List.of(new OutputError(ElementType.FLOAT32, 1.0 / nanos)),
                                nanos,
                                5)),
                failed
                        ? Optional.of(new Failure(CandidateException.Kind.CRASHED, "SIGSEGV"))
                        : Optional.empty(),
                nanos,
                Stream.concat(cpu.stream(), delegated).toList(),
                nanos,
                ImmutableLongArray.of(nanos, nanos + 1));
    }

    @Provide
    Arbitrary<PartialResult> results() {
        Arbitrary<SortedSet<Integer>> operators =
                Arbitraries.of(0, 1, 2, 5, 6).set().map(ImmutableSortedSet::copyOf);
        Arbitrary<Candidate> candidates =
                Combinators.combine(operators, Arbitraries.of(1, 2)).as(Candidate::new);
        return Combinators.combine(
                        candidates.list().ofMaxSize(5),
                        Arbitraries.longs().between(1, 1L << 40),
                        Arbitraries.of(true, false))
                .as(PartialFuzzTest::result);
    }

    @Provide
    Arbitrary<String> values() {
        return Arbitraries.of(Forgeries.VALUES);
    }

    private static byte[] saved(PartialResult result) throws IOException {
        store().save(KEY, result);
        return Files.readAllBytes(file);
    }

    private static Optional<PartialResult> load(byte[] content) throws IOException {
        Files.write(file, content);
        try (LogCapture log = new LogCapture()) {
            Optional<PartialResult> result = store().load(KEY);
            assertEquals(result.isPresent() ? 0 : 1, log.lines().size(), log.lines()::toString);
            return result;
        }
    }

    @Property(tries = 100, edgeCases = EdgeCasesMode.NONE)
    void saveLoad_anyAnswers_areEqual(@ForAll("results") PartialResult result) throws IOException {
        assertEquals(Optional.of(result), load(saved(result)));
    }

    @Example
    void load_anyByteChanged_isEqualOrRefused() throws IOException {
        byte[] whole = saved(small());
        for (int at = 0; at < whole.length; at++) {
            for (int other : new int[] {whole[at] ^ 1, '"'}) {
                byte[] damaged = whole.clone();
                damaged[at] = (byte) other;
                Optional<PartialResult> result = load(damaged);
                assertTrue(result.isEmpty() || result.get().equals(small()), result::toString);
            }
        }
    }

    @Example
    void load_truncatedAnywhere_isRefused() throws IOException {
        byte[] whole = saved(small());
        for (int length = 0; length < whole.length - 1; length++) {
            assertEquals(Optional.empty(), load(Arrays.copyOf(whole, length)));
        }
    }

    @Property(tries = 50, edgeCases = EdgeCasesMode.NONE)
    void load_anyBytes_isRefused(@ForAll byte[] content) throws IOException {
        assertEquals(Optional.empty(), load(content));
    }

    @Property(tries = 400, edgeCases = EdgeCasesMode.NONE)
    void load_partReplacedUnderARightChecksum_isOfTheRequestOrRefused(
            @ForAll("results") PartialResult result,
            @ForAll int place,
            @ForAll("values") String value)
            throws IOException {
        byte[] forged = Forgeries.replaced(saved(result), "partial-profile", place, value);
        Optional<PartialResult> loaded = load(forged);
        Statistics.collect(loaded.isPresent());
        Statistics.coverage(coverage -> coverage.check(true).percentage(share -> share > 1));
        loaded.ifPresent(PartialFuzzTest::assertOfTheRequest);
    }

    private static void assertOfTheRequest(PartialResult result) {
        Set<Integer> offered = new HashSet<>();
        result.partitions().forEach(offered::addAll);
        double nanos = 0;
        for (Map.Entry<Candidate, Known> entry : result.candidates().entrySet()) {
            Candidate candidate = entry.getKey();
            boolean engines = !candidate.delegates() && candidate.threads() == -1;
            assertTrue(engines || wanted.threads().contains(candidate.threads()));
            assertTrue(offered.containsAll(candidate.operators()));
            Known known = entry.getValue();
            for (NodeTime node : known.nodes()) {
                assertTrue(node.operators().last() < FakeModel.OPERATORS);
                assertTrue(
                        !node.delegated() || candidate.operators().containsAll(node.operators()));
                nanos += node.nanos();
            }
            nanos += (double) known.prepareNanos() + known.profileNanos();
            nanos += known.times().stream().asDoubleStream().sum();
        }
        assertTrue(nanos <= 1L << 50, "two weeks, so that no sum overflows");
    }
}
