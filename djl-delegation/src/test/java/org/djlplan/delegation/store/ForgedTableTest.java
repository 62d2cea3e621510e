package org.djlplan.delegation.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.ImmutableSortedSet;
import com.google.common.hash.Hashing;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.djlplan.delegation.FakeModel;
import org.djlplan.delegation.LogCapture;
import org.djlplan.delegation.choice.Cost;
import org.djlplan.delegation.choice.CostKey;
import org.djlplan.delegation.choice.CostKey.Kind;
import org.djlplan.delegation.choice.LearntCosts;
import org.djlplan.delegation.table.Entry;
import org.djlplan.delegation.table.Goal;
import org.djlplan.delegation.table.Latency;
import org.djlplan.delegation.table.Objective;
import org.djlplan.delegation.table.ProfileTable;
import org.djlplan.delegation.table.Tolerance;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.store.StoreKey;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whole tables with a right checksum that no measuring for the request can have made. */
class ForgedTableTest {

    private static final Goal GOAL = new Goal(Objective.LATENCY, OptionalLong.of(30_000_000));
    private static final Wanted WANTED = new Wanted(List.of(1, 2), GOAL, new Tolerance(1e-4));

    private static final List<OutputError> CLOSE =
            List.of(new OutputError(ElementType.FLOAT32, 2e-6));

    @TempDir Path folder;
    private FakeModel model;
    private StoreKey key;

    @BeforeEach
    void makeModel() throws IOException {
        model = new FakeModel(folder);
        key = ProfileKeys.of(model, GOAL, List.of(1, 2), 1e-4);
    }

    private static Entry measured(Candidate candidate, long bytes, List<OutputError> errors) {
        return new Entry.Measured(candidate, 1, new Latency(2, 1, 3, 30), bytes, errors);
    }

    private static ProfileTable table(Candidate chosen, Entry... entries) {
        return new ProfileTable(
                List.of(ImmutableSortedSet.of(0, 1, 2), ImmutableSortedSet.of(5, 6)),
                List.of(entries),
                chosen,
                "forged",
                3,
                4);
    }

    /** Returns the reason why a table is refused, which is told once. */
    private String refusal(ProfileTable forged) {
        ProfileStore.of(model).save(key, forged);
        assertEquals(Optional.of(forged), ProfileStore.of(model).load(key), "it is intact");
        try (LogCapture log = new LogCapture()) {
            var store = ProfileStore.of(model, WANTED);
            assertEquals(Optional.empty(), store.load(key));
            assertEquals(Optional.empty(), store.load(key));
            assertEquals(1, log.lines("WARN").size(), log.lines()::toString);
            store.save(key, SampleTables.small(2));
            assertEquals(Optional.of(SampleTables.small(2)), store.load(key));
            return log.lines("WARN").get(0);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MAX_VALUE, 5000, 3, -1})
    void load_threadsThatWereNotAskedFor_isRefused(int threads) {
        Candidate cpu = Candidate.cpu(threads);
        assertTrue(refusal(table(cpu)).contains("a set with " + threads + " threads"));
        Candidate some = new Candidate(ImmutableSortedSet.of(0, 1), threads);
        assertTrue(
                refusal(table(Candidate.cpu(2), measured(some, 1, CLOSE)))
                        .contains("a set with " + threads + " threads"));
    }

    @Test
    void load_operatorsThatTheDelegateDidNotOffer_isRefused() {
        Candidate some = new Candidate(ImmutableSortedSet.of(0, 3), 2);
        assertTrue(
                refusal(table(some, measured(some, 1, CLOSE)))
                        .contains("operators that the delegate did not offer"));
    }

    @Test
    void load_choiceOutsideTheTolerance_isRefused() {
        Candidate some = new Candidate(ImmutableSortedSet.of(0, 1), 2);
        for (double difference : new double[] {2e-4, Double.POSITIVE_INFINITY}) {
            Entry far =
                    measured(some, 1, List.of(new OutputError(ElementType.FLOAT32, difference)));
            assertTrue(refusal(table(some, far)).contains("outside the tolerance"));
        }
    }

    @Test
    void load_choiceOverTheLimitOfMemory_isRefused() {
        Candidate some = new Candidate(ImmutableSortedSet.of(0, 1), 2);
        assertTrue(
                refusal(table(some, measured(some, 30_000_001, CLOSE))).contains("over the limit"));
    }

    @Test
    void load_tableThatMeasuringMakes_isBelieved() {
        try (LogCapture log = new LogCapture()) {
            for (ProfileTable sound :
                    List.of(
                            SampleTables.small(1),
                            SampleTables.small(2),
                            table(Candidate.cpu(2), measured(Candidate.cpu(2), 1L << 40, CLOSE)))) {
                ProfileStore.of(model, WANTED).save(key, sound);
                assertEquals(Optional.of(sound), ProfileStore.of(model, WANTED).load(key));
            }
            assertEquals(List.of(), log.lines());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "NaN, 1.0",
        "1.0E308, 1.0",
        "1.0, NaN",
        "1.0, 1.0E308",
        "-1.0, 1.0",
        "1.0, 0.0",
        "Infinity, 1.0",
        "9.0E17, 1.0",
        "1.0, 4.9E-324",
    })
    void loadCosts_numbersOfNoMachine_areToldOnceAndDefault(String nanos, String amount)
            throws IOException {
        LearntCosts sound =
                LearntCosts.of(Map.of(new CostKey(Kind.CPU, "ABS", 1), new Cost(123.5, 4567.5)));
        LearntCostsStore.learn(model, List.of(), 1);
        Path file;
        try (Stream<Path> files = Files.walk(model.cacheFolder())) {
            file =
                    files.filter(f -> f.toString().endsWith(".costs.json"))
                            .findFirst()
                            .orElseThrow();
        }
        String empty =
                JsonParser.parseString(Files.readString(file))
                        .getAsJsonObject()
                        .get("cost-table")
                        .toString();
        String forged = "{\"costs\":[[\"CPU\",\"ABS\",\"1\",\"%s\",\"%s\"]]}";
        Files.writeString(
                file,
                withValue(Files.readString(file), empty, forged.formatted("123.5", "4567.5")));
        assertEquals(sound.costs(), LearntCostsStore.load(model).costs(), "the forgery works");

        Files.writeString(
                file,
                withValue(
                        Files.readString(file),
                        forged.formatted("123.5", "4567.5"),
                        forged.formatted(nanos, amount)));
        try (LogCapture log = new LogCapture()) {
            assertEquals(Map.of(), LearntCostsStore.load(model).costs());
            assertEquals(1, log.lines("WARN").size(), log.lines()::toString);
        }
    }

    private static String withValue(String text, String before, String after) {
        assertTrue(text.contains(before), text);
        return text.replace(before, after).replace(sha256(before), sha256(after));
    }

    private static String sha256(String text) {
        return Hashing.sha256().hashString(text, StandardCharsets.UTF_8).toString();
    }
}
