package org.djlplan.integration.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.testing.Await;
import org.djlplan.memplan.testing.MemoryGroup;
import org.djlplan.thirdparty.guava.io.MoreFiles;
import org.djlplan.thirdparty.guava.io.RecursiveDeleteOption;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests applications that end, are killed, or run out of memory during a measurement. */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class ExitTest {

    private static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");
    private static final int MOST_TRIES = 9;

    /** 128 and the signal's number. */
    private static final int KILLED = 137;

    private static final long MIB = 1 << 20;

    @TempDir private Path folder;
    private Path model;
    private Path log;
    private List<String> jvm;

    @BeforeEach
    void copyModel() throws IOException {
        model = Files.createDirectories(folder.resolve("model")).resolve("net.tflite");
        Files.copy(TestModels.built("uneven"), model);
        log = folder.resolve("application.log");
        jvm = new Packages(folder, log).classPath();
    }

    private Started run(List<String> before, String profile, Application.Event event)
            throws Exception {
        return Started.run(
                folder, before, JAVA, jvm, List.of(model.toString(), profile, event.name()));
    }

    private List<String> warnings() throws IOException {
        return Files.readAllLines(log).stream()
                .filter(l -> l.startsWith("WARN Measurement "))
                .toList();
    }

    private long kept(String ending) throws IOException {
        try (Stream<Path> files = Files.list(model.resolveSibling(".djlplan"))) {
            return files.filter(f -> f.toString().endsWith(ending)).count();
        }
    }

    private void forgetMeasurement() throws IOException {
        MoreFiles.deleteRecursively(
                model.resolveSibling(".djlplan"), RecursiveDeleteOption.ALLOW_INSECURE);
    }

    /** The measuring process ends soon after the application, and its folder goes with it. */
    private void awaitNoFolders() {
        Await.until(
                () -> {
                    try (Stream<Path> files = Files.list(folder.resolve("tmp"))) {
                        return files.map(f -> f.getFileName().toString())
                                .noneMatch(name -> name.startsWith("djlplan-measuring"));
                    }
                });
    }

    @Test
    void exit_whileMeasuring_leavesNothingAndTheNextRunMeasures() throws Exception {
        Started application = run(List.of(), "background", Application.Event.SHORT_LIFE);
        assertEquals(0, application.exitCode(), application.toString());
        awaitNoFolders();
        assertEquals(0, kept(".measuring.json"));
        assertEquals(0, kept(".profile.json"));

        Started next = run(List.of(), "blocking", Application.Event.NONE);
        assertTrue(next.out().contains("choice MEASURED"), next.toString());
        assertEquals(1, kept(".profile.json"));
    }

    @Test
    void load_groupWithLittleHeadroom_isNotMeasuredAndLives() throws Exception {
        try (MemoryGroup group = MemoryGroup.of(150 * MIB)) {
            for (int start = 0; start < 2; start++) {
                Started application = run(group.inside(), "background", Application.Event.NONE);
                assertEquals(0, application.exitCode(), application.toString());
                assertTrue(
                        application.out().contains("choice UNVERIFIED false"),
                        application.toString());
                assertFalse(application.out().contains("child "), application.toString());
                assertEquals(1, warnings().size(), warnings().toString());
                assertTrue(warnings().get(0).contains("MB of memory are left"), warnings().get(0));
            }
        }
    }

    @Test
    @Tag("long")
    void measure_groupRunsOutOfMemory_costsTheMeasuringProcessOnly() throws Exception {
        try (MemoryGroup group = MemoryGroup.of(300 * MIB)) {
            Started greedy = run(group.inside(), "blocking", Application.Event.GREEDY);
            // Some kernels also kill the next process before the first one's memory is free. And if
            // the application has taken all memory just before a candidate would be prepared,
            // djl-plan notices that, and nothing is killed.
            for (int i = 0; i < MOST_TRIES && (greedy.exitCode() == KILLED || noticed()); i++) {
                forgetMeasurement();
                greedy = run(group.inside(), "blocking", Application.Event.GREEDY);
            }
            assertEquals(0, greedy.exitCode(), greedy.toString());
            assertTrue(greedy.out().contains("choice UNVERIFIED false"), greedy.toString());
            assertTrue(
                    warnings().toString().contains("killed by the system, as memory had run out"),
                    warnings().toString());
            assertNotMeasuredInTheSameCircumstances(group);
        }
    }

    @Test
    @Tag("long")
    void measure_groupIsKilled_isNotMeasuredAgainInTheSameCircumstances() throws Exception {
        try (MemoryGroup group = MemoryGroup.of(300 * MIB)) {
            Started killed = run(group.inside(), "blocking", Application.Event.KILLED);
            assertEquals(KILLED, killed.exitCode(), killed.toString());
            awaitNoFolders();
            assertNotMeasuredInTheSameCircumstances(group);
        }
    }

    private boolean noticed() throws IOException {
        return warnings().toString().contains("MB of memory are left");
    }

    private void assertNotMeasuredInTheSameCircumstances(MemoryGroup group) throws Exception {
        assertEquals(1, kept(".measuring.json"));
        Started again = run(group.inside(), "blocking", Application.Event.NONE);
        assertEquals(0, again.exitCode(), again.toString());
        assertTrue(again.out().contains("choice UNVERIFIED false"), again.toString());
        assertEquals(1, warnings().size(), warnings().toString());
        assertTrue(warnings().get(0).contains("djlplan tune"), warnings().get(0));

        group.limit(800 * MIB);
        Started more = run(group.inside(), "blocking", Application.Event.NONE);
        assertTrue(more.out().contains("choice MEASURED"), more.toString());
        assertEquals(0, kept(".measuring.json"));
    }
}
