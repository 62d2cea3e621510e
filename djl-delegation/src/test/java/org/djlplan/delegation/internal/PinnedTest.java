package org.djlplan.delegation.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.djlplan.delegation.internal.Measurement.Profiling;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.internal.table.Entry.Latency;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.DelegationProvider.Choosing;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.UnusableOptionException;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests pinned jobs, whose choice comes from a named source and does not change. */
@Timeout(60)
class PinnedTest extends ProviderFixture {

    /** Returns the folder of a copy of the model with a table beside it. */
    private Path keptElsewhere(ProfileTable table, StoreKey key) throws IOException {
        FakeModel other = new FakeModel(folder.resolve("tuned"));
        ProfileStore.of(other).save(key, table);
        return other.file().getParent();
    }

    private Choosing choose(Profiling profiling, Map<String, String> options) {
        return provider(profiling).choose(model, options, Optional.empty(), better::add);
    }

    private Choosing from(Path place, String... more) {
        Map<String, String> options = new HashMap<>();
        options.put("delegation.profileFrom", place.toString());
        for (int i = 0; i < more.length; i += 2) {
            options.put(more[i], more[i + 1]);
        }
        return choose(NEVER, options);
    }

    private static Path archived(String form, Path tuned) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(tuned)) {
            files = all.filter(Files::isRegularFile).toList();
        }
        Path archive = tuned.resolveSibling("archive-without-ending");
        try (OutputStream out = Files.newOutputStream(archive)) {
            if (form.equals("tar.gz")) {
                try (TarArchiveOutputStream tar =
                        new TarArchiveOutputStream(new GZIPOutputStream(out))) {
                    for (Path file : files) {
                        String name = "net/" + tuned.relativize(file);
                        tar.putArchiveEntry(new TarArchiveEntry(file, name));
                        Files.copy(file, tar);
                        tar.closeArchiveEntry();
                    }
                }
            } else {
                try (ZipOutputStream zip = new ZipOutputStream(out)) {
                    for (Path file : files) {
                        String inside = form.equals("zip with a folder") ? "net/" : "";
                        zip.putNextEntry(new ZipEntry(inside + tuned.relativize(file)));
                        Files.copy(file, zip);
                    }
                }
            }
        }
        return archive;
    }

    private static Path place(String form, Path tuned) throws IOException {
        return switch (form) {
            case "model's folder" -> tuned;
            case "folder" -> tuned.resolve(".djlplan");
            case "link" -> Files.createSymbolicLink(tuned.resolveSibling("link"), tuned);
            default -> archived(form, tuned);
        };
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"model's folder", "folder", "link", "zip", "zip with a folder", "tar.gz"})
    void choose_profileFrom_isWhatServesAndIsNotWritten(String form) throws Exception {
        Path tuned = keptElsewhere(TABLE, key(List.of(2)));
        List<Path> before;
        try (Stream<Path> all = Files.walk(tuned)) {
            before = all.toList();
        }
        FileTime old = FileTime.from(1, TimeUnit.HOURS);
        for (Path each : before) {
            Files.setLastModifiedTime(each, old);
        }
        Path place = place(form, tuned);

        DelegationChoice choice = from(place).first();

        assertEquals(TABLE.chosen(), choice.candidate());
        assertEquals(Origin.STORED, choice.origin());
        assertEquals(List.of(), log.lines("WARN"));
        afterwards();
        assertNull(better.poll());
        for (Path each : before) {
            assertEquals(old, Files.getLastModifiedTime(each), each::toString);
        }
        assertFalse(Files.exists(model.file().resolveSibling(".djlplan")));
    }

    @Test
    void choose_profileFromAndBesideTheModel_theFirstCounts() throws IOException {
        ProfileStore.of(model).save(key(List.of(2)), SampleTables.cpu(model.reported));
        Path tuned = keptElsewhere(TABLE, key(List.of(2)));
        assertEquals(TABLE.chosen(), from(tuned).first().candidate());
    }

    @Test
    void choose_emptyLocation_usesTableBesideModelWithoutSwitching() throws Exception {
        ProfileStore.of(model)
                .save(key(List.of(2)), TABLE.with(Optional.of("others disturbed it")));
        Path empty = Files.createDirectory(folder.resolve("empty"));
        DelegationChoice choice = from(empty).first();
        assertEquals(TABLE.chosen(), choice.candidate());
        afterwards();
        assertNull(better.poll(), "a job that is not pinned would measure it again");
    }

    @Test
    void choose_onMissingFail_namesMissingResultAndCommand() throws IOException {
        Path empty = Files.createDirectory(folder.resolve("empty"));
        String message =
                assertThrows(
                                UnusableOptionException.class,
                                () -> from(empty, "delegation.onMissing", "fail"))
                        .getMessage();
        assertTrue(message.contains("delegation.onMissing=fail"), message);
        assertTrue(message.contains("threads=2"), message);
        assertTrue(message.contains("cpu="), message);
        assertTrue(message.contains(empty.toString()), message);
        assertTrue(message.contains("djlplan tune"), message);
    }

    @Test
    void choose_onMissingFailAndStored_loads() throws IOException {
        ProfileStore.of(model).save(key(List.of(2)), TABLE);
        Choosing choosing = choose(NEVER, Map.of("delegation.onMissing", "fail"));
        assertEquals(TABLE.chosen(), choosing.first().candidate());
    }

    @Test
    void choose_onMissingCpu_isCpuForGood() throws Exception {
        Choosing choosing = choose(NEVER, Map.of("delegation.onMissing", "cpu"));
        assertEquals(CPU, choosing.first().candidate());
        afterwards();
        assertNull(better.poll());
        assertEquals(0, model.startedProcesses.get());
    }

    @Test
    void choose_onMissingMeasure_isMeasuredForTheNextJobOnly() throws Exception {
        Path empty = Files.createDirectory(folder.resolve("empty"));
        CountDownLatch measured = new CountDownLatch(1);
        Map<String, String> options = Map.of("delegation.profileFrom", empty.toString());
        Choosing choosing =
                choose(
                        (request, runner, progress, verified) -> {
                            measured.countDown();
                            return TABLE;
                        },
                        options);
        assertEquals(CPU, choosing.first().candidate());
        assertTrue(measured.await(20, TimeUnit.SECONDS));
        afterwards();
        assertNull(better.poll(), "a pinned job never switches");
        assertEquals(TABLE.chosen(), choose(NEVER, options).first().candidate());
    }

    @ParameterizedTest
    @ValueSource(strings = {"missing", "no archive"})
    void choose_profileFromCannotBeRead_isAnError(String name) throws IOException {
        Path place = folder.resolve(name);
        if (name.equals("no archive")) {
            Files.writeString(place, "text");
        }
        String message =
                assertThrows(UnusableOptionException.class, () -> from(place)).getMessage();
        assertTrue(message.startsWith("delegation.profileFrom=" + place), message);
    }

    @Test
    void choose_severalThreads_onlyTheFewest() throws IOException {
        model.threads = -1;
        List<Integer> threads = List.of(1, Runtime.getRuntime().availableProcessors());
        Candidate one = new Candidate(ImmutableSortedSet.of(0, 1), 1);
        Candidate most = new Candidate(ImmutableSortedSet.of(5, 6), threads.get(1));
        List<OutputError> close = List.of(new OutputError(ElementType.FLOAT32, 2e-6));
        Latency latency = new Latency(2, 1, 3, 30);
        ProfileTable table =
                new ProfileTable(
                        SampleTables.small(1).partitions(),
                        List.of(
                                new Entry.Measured(one, 1, latency, 1, close),
                                new Entry.Measured(most, 1, latency, 1, close)),
                        most,
                        List.of(one),
                        "fastest",
                        Optional.empty(),
                        3,
                        4);
        Path tuned =
                keptElsewhere(
                        table, key(DelegationOptions.parse(Map.of()).request(model).threads()));
        DelegationChoice choice = from(tuned).first();
        assertEquals(one, choice.candidate());
        assertEquals(List.of(), choice.lighter());
    }

    @Test
    void choose_damagedArchive_warnsOnceAndCountsAsMissing() throws IOException {
        Path tuned = keptElsewhere(TABLE, key(List.of(2)));
        try (Stream<Path> files = Files.list(tuned.resolve(".djlplan"))) {
            for (Path file : files.filter(f -> f.toString().endsWith(".json")).toList()) {
                Files.writeString(file, Files.readString(file).replace("237", "2"));
            }
        }
        Path zip = archived("zip", tuned);
        Choosing choosing = from(zip, "delegation.onMissing", "cpu");
        assertEquals(CPU, choosing.first().candidate());
        assertEquals(1, log.lines("WARN").size(), log.lines()::toString);
        assertTrue(log.lines("WARN").get(0).contains("cannot be used"), log.lines()::toString);
    }

    @Test
    void key_threadsAreSet_doesNotDependOnCores() throws IOException {
        assertFalse(key(List.of(2)).facts().containsKey("cores"));
        assertTrue(key(List.of(1, 2)).facts().containsKey("cores"));
        assertTrue(key(List.of(-1)).facts().containsKey("cores"));
    }

    @Test
    void id_sameChoice_isTheSameWhereverItWasMade() {
        DelegationChoice kept = chosen(Origin.STORED);
        String id = kept.id("TFLite 2.21.0", "xnnpack");
        assertTrue(id.matches("[0-9a-f]{12}"), id);
        assertEquals(id, chosen(Origin.MEASURED).id("TFLite 2.21.0", "xnnpack"));
        List<DelegationChoice> others =
                List.of(
                        new DelegationChoice(ALL, Origin.STORED, "others"),
                        new DelegationChoice(
                                kept.candidate().withThreads(1), Origin.STORED, "threads"),
                        new DelegationChoice(
                                kept.candidate().withTransientBuffers(), Origin.STORED, "buffers"));
        for (DelegationChoice other : others) {
            assertFalse(id.equals(other.id("TFLite 2.21.0", "xnnpack")), other.reason());
        }
        assertFalse(id.equals(kept.id("TFLite 2.20.0", "xnnpack")));
        assertFalse(id.equals(kept.id("TFLite 2.21.0", "gpu")));
    }
}
