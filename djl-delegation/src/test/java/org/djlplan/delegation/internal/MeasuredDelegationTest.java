package org.djlplan.delegation.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.training.util.ProgressBar;
import ai.djl.util.Progress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.djlplan.delegation.internal.Measurement.Profiling;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.DelegationProvider;
import org.djlplan.memplan.spi.DelegationProvider.Choosing;
import org.djlplan.memplan.spi.ShapeMix;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.memplan.testing.Await;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the first choice of a model: the stored one, a measured one, or the CPU kernels. */
@Timeout(60)
class MeasuredDelegationTest extends ProviderFixture {

    private DelegationChoice first(Profiling profiling, String mode) {
        try (Choosing choosing = choose(profiling, mode)) {
            return choosing.first();
        }
    }

    private static void assertCpu(DelegationChoice choice) {
        assertFalse(choice.candidate().delegates());
        assertEquals(Origin.UNVERIFIED, choice.origin());
    }

    private long keptTables() throws IOException {
        Path beside = model.file().resolveSibling(".djlplan");
        if (!Files.exists(beside)) {
            return 0;
        }
        try (Stream<Path> files = Files.list(beside)) {
            return files.filter(file -> file.toString().endsWith(".profile.json")).count();
        }
    }

    @Test
    void serviceLoader_findsIt() {
        List<DelegationProvider> providers =
                ServiceLoader.load(DelegationProvider.class).stream()
                        .map(ServiceLoader.Provider::get)
                        .toList();
        assertEquals(1, providers.size());
        assertInstanceOf(MeasuredDelegation.class, providers.get(0));
        assertEquals(10, providers.get(0).options().size());
    }

    @Test
    void choose_blocking_measuresOnceAndKeepsIt() throws IOException {
        DelegationChoice measured = first(MEASURING, "blocking");
        assertEquals(chosen(Origin.MEASURED), measured);
        assertEquals(1, keptTables());
        for (String mode : List.of("blocking", "background", "off")) {
            DelegationChoice again = first(NEVER, mode);
            assertEquals(chosen(Origin.STORED), again);
        }
        assertEquals(1, profiles.get());
        assertEquals(1, model.startedProcesses.get());
        assertEquals(0, model.openRunners.get());
    }

    /** The model's whole content is read only if something is stored that it could match. */
    @Test
    void choose_nothingStored_doesNotReadTheModel() throws IOException {
        Path fingerprints = model.cacheFolder().resolve("fingerprints");
        Files.setLastModifiedTime(model.file(), FileTime.fromMillis(0));
        Await.until(() -> sinceChange() > 2100);
        assertCpu(first(NEVER, "off"));
        assertFalse(Files.exists(fingerprints));
        first(MEASURING, "blocking");
        assertTrue(Files.exists(fingerprints));
    }

    private long sinceChange() {
        try {
            FileTime change = (FileTime) Files.getAttribute(model.file(), "unix:ctime");
            return System.currentTimeMillis() - change.toMillis();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void choose_modelReplacedWhileMeasured_storesNothing() throws IOException {
        assertCpu(
                first(
                        (request, runner, progress, verified) -> {
                            replaceModel();
                            return TABLE;
                        },
                        "blocking"));
        assertEquals(0, keptTables());
    }

    private void replaceModel() {
        try {
            Path other = Files.writeString(model.file().resolveSibling("other"), "other weights");
            Files.move(other, model.file(), StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void choose_blocking_passesTheRequestOn() {
        model.threads = 2;
        Progress given = new ProgressBar();
        provider(
                        (request, runner, progress, verified) -> {
                            assertEquals(model.graph(), request.graph());
                            assertEquals(List.of(2), request.threads());
                            assertEquals(Tolerance.of(1e-3), request.tolerance());
                            assertSame(given, progress.orElseThrow());
                            return TABLE;
                        })
                .choose(
                        model,
                        Map.of("delegation.profile", "blocking", "delegation.tolerance", "1e-3"),
                        Optional.of(given),
                        better::add)
                .close();
        assertEquals(1, profiles.get());
        assertEquals(
                List.of(), log.lines("WARN").stream().filter(l -> !l.contains("2 of 4")).toList());
    }

    @Test
    void choose_usefulAndUselessCandidates_warnsOnceWhenMeasured() {
        first(MEASURING, "blocking");
        first(NEVER, "blocking");
        assertEquals(1, log.lines("WARN").size());
        assertTrue(log.lines("WARN").get(0).contains("2 of 4 candidates"));
    }

    @Test
    void choose_profileOff_isCpuAndKeepsNothing() throws IOException {
        assertCpu(first(NEVER, "off"));
        assertEquals(0, model.startedProcesses.get());
        assertEquals(0, model.openRunners.get());
        assertEquals(0, keptTables());
        assertEquals(List.of(), log.lines());
    }

    @Test
    void choose_disabled_isCpu() {
        DelegationChoice choice =
                provider(NEVER)
                        .choose(
                                model,
                                Map.of("delegation.enabled", "false"),
                                Optional.empty(),
                                better::add)
                        .first();
        assertCpu(choice);
        assertTrue(choice.reason().contains("delegation.enabled=false"));
    }

    @Test
    void choose_noProcess_isCpuWithOneWarning() throws IOException {
        model.processes = false;
        assertCpu(first(NEVER, "blocking"));
        assertCpu(first(NEVER, "blocking"));
        assertEquals(1, log.lines("WARN").size());
        assertTrue(log.lines("WARN").get(0).contains("no child process here"));
        assertEquals(0, keptTables());
    }

    @ParameterizedTest
    @ValueSource(strings = {"blocking", "background"})
    void choose_knownThatNoProcessCanBeStarted_isCpuAtOnce(String mode) {
        model.obstacle = Optional.of("no program java");
        assertCpu(first(NEVER, mode));
        assertEquals(0, model.startedProcesses.get());
        assertEquals(1, log.lines("WARN").size());
        assertTrue(log.lines("WARN").get(0).contains("no program java"));
    }

    @Test
    void choose_processLost_keepsVerifiedChoice() {
        first(MEASURING, "blocking");
        model.obstacle = Optional.of("no program java");
        DelegationChoice choice = first(NEVER, "background");
        assertEquals(chosen(Origin.STORED), choice);
        assertEquals(1, log.lines("WARN").size(), "that of measuring");
    }

    @Test
    void choose_notEnoughMemory_isCpuAtOnce() {
        model.neededBytes = Long.MAX_VALUE / 2;
        assertCpu(first(NEVER, "background"));
        assertEquals(0, model.startedProcesses.get());
        assertTrue(log.lines("WARN").get(0).contains("MB of memory are left"));
    }

    @Test
    void choose_measuringFails_isCpuWithOneWarning() throws IOException {
        DelegationChoice choice =
                first(
                        (request, runner, progress, verified) -> {
                            throw new IllegalStateException("broken");
                        },
                        "blocking");
        assertCpu(choice);
        assertEquals(1, log.lines("WARN").size());
        assertEquals(0, keptTables());
        assertEquals(0, model.openRunners.get());
        assertEquals(Origin.MEASURED, first(MEASURING, "blocking").origin(), "the lock was freed");
    }

    @Test
    void choose_everythingFails_isCpu() {
        DelegationChoice choice =
                new MeasuredDelegation(
                                (request, runner, progress, verified) -> {
                                    throw new UnsatisfiedLinkError("measuring");
                                },
                                SHORT)
                        .choose(
                                model,
                                Map.of("delegation.profile", "blocking"),
                                Optional.empty(),
                                better::add)
                        .first();
        assertCpu(choice);
        assertEquals(1, log.lines("WARN").size());
        assertEquals(0, model.openRunners.get());
    }

    @Test
    void choose_unreadableModelFile_isCpuWithOneWarning() throws IOException {
        Files.delete(model.file());
        assertCpu(first(NEVER, "blocking"));
        assertEquals(1, log.lines("WARN").size());
    }

    @Test
    void choose_interrupted_isCpuAndStaysInterrupted() throws IOException {
        DelegationChoice choice =
                first(
                        (request, runner, progress, verified) -> {
                            Thread.currentThread().interrupt();
                            new CountDownLatch(1).await();
                            return TABLE;
                        },
                        "blocking");
        assertTrue(Thread.interrupted());
        assertCpu(choice);
        assertEquals(0, keptTables());
        assertEquals(List.of(), log.lines("WARN"));
        assertEquals(0, model.openRunners.get());
    }

    @Test
    void choose_interruptedBefore_usesStoredResults() {
        first(MEASURING, "blocking");
        Thread.currentThread().interrupt();
        DelegationChoice choice = first(NEVER, "blocking");
        assertTrue(Thread.interrupted());
        assertEquals(Origin.STORED, choice.origin());
    }

    @Test
    void choose_damagedTable_warnsOnceAndMeasuresAgain() throws IOException {
        first(MEASURING, "blocking");
        try (Stream<Path> files = Files.list(model.file().resolveSibling(".djlplan"))) {
            Path file = files.filter(f -> f.toString().endsWith("json")).findFirst().orElseThrow();
            Files.writeString(
                    file, Files.readString(file).replace("240", "241").replace("237", "2"));
        }
        DelegationChoice choice = first(MEASURING, "blocking");
        assertEquals(Origin.MEASURED, choice.origin());
        assertEquals(
                1, log.lines("WARN").stream().filter(l -> l.contains("cannot be used")).count());
        assertEquals(Origin.STORED, first(NEVER, "off").origin());
    }

    @Test
    void choose_nothingCouldBeMeasured_isCpuAndRemembered() {
        ProfileTable nothing =
                new ProfileTable(
                        List.of(ImmutableSortedSet.of(0)),
                        List.<Entry>of(),
                        Candidate.cpu(2),
                        "nothing ran",
                        0,
                        0);
        assertFalse(
                first((request, runner, progress, verified) -> nothing, "blocking")
                        .candidate()
                        .delegates());
        DelegationChoice again = first(NEVER, "blocking");
        assertEquals(Origin.STORED, again.origin());
        assertFalse(again.candidate().delegates());
    }

    @Test
    void choose_noThreadsAskedFor_isCpuAsWithoutDelegation() {
        model.threads = -1;
        DelegationChoice choice = first(NEVER, "off");
        assertEquals(Candidate.cpu(-1), choice.candidate());
    }

    private static final Map<String, String> AT_SHAPES =
            Map.of("delegation.enabled", "every-shape");

    private Optional<Choosing> atShapes(Profiling profiling, Map<String, String> options) {
        return provider(profiling).chooseAtShapes(model, options, better::add);
    }

    @Test
    void chooseAtShapes_nothingStored_isMeasuredInTheBackgroundAndStored() throws Exception {
        try (Choosing choosing = atShapes(MEASURING, AT_SHAPES).orElseThrow()) {
            assertCpu(choosing.first());
            assertEquals(chosen(Origin.MEASURED), nextBetter());
        }
        try (Choosing choosing = atShapes(NEVER, AT_SHAPES).orElseThrow()) {
            assertEquals(chosen(Origin.STORED), choosing.first());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"delegation.enabled=false", "delegation.profile=off"})
    void chooseAtShapes_nothingIsToBeMeasured_isNothing(String option) {
        String[] parts = option.split("=", 2);
        Map<String, String> options = new HashMap<>(AT_SHAPES);
        options.put(parts[0], parts[1]);
        assertTrue(atShapes(NEVER, options).isEmpty());
    }

    @Test
    void storedMixes_afterAMeasurementAtOtherShapes_areItsShapes() throws Exception {
        ShapeMix mix = new ShapeMix(List.of(List.of(List.of(1, 2))), 1);
        DelegationProvider delegation = provider(MEASURING);
        assertEquals(chosen(Origin.MEASURED), first(MEASURING, "blocking"));
        assertEquals(List.of(), delegation.storedMixes(model, AT_SHAPES));
        model.facts = Map.of(DelegableModel.SHAPES, mix.toString());
        try (Choosing choosing =
                delegation.chooseAtShapes(model, AT_SHAPES, better::add).orElseThrow()) {
            assertCpu(choosing.first());
            assertEquals(chosen(Origin.MEASURED), nextBetter());
        }
        try (Choosing choosing =
                delegation
                        .chooseAtShapes(
                                model,
                                Map.of(
                                        "delegation.enabled",
                                        "every-shape",
                                        "delegation.profile",
                                        "off"),
                                better::add)
                        .orElseThrow()) {
            assertEquals(chosen(Origin.STORED), choosing.first());
        }
        model.facts = Map.of();
        assertEquals(List.of(mix), delegation.storedMixes(model, AT_SHAPES));
        Map<String, String> others = new HashMap<>(AT_SHAPES);
        others.put("delegation.objective", "memory");
        assertEquals(List.of(), delegation.storedMixes(model, others));
    }

    @Test
    void storedMixes_forgedName_isPassedOver() throws Exception {
        model.facts = Map.of(DelegableModel.SHAPES, "ShapeMix[shapes=[[[[[1]]], changes=1.0]");
        assertEquals(chosen(Origin.MEASURED), first(MEASURING, "blocking"));
        assertEquals(List.of(), provider(MEASURING).storedMixes(model, AT_SHAPES));
    }

    @Test
    void chooseAtShapes_noProcess_isNothing() {
        model.obstacle = Optional.of("no processes here");
        assertTrue(atShapes(NEVER, AT_SHAPES).isEmpty());
    }
}
