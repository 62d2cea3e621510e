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
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that the measuring process starts and does not disturb the application, for each way of
 * packaging it.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class PackagingTest {

    private static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");

    @TempDir private Path folder;
    private Path model;
    private Path log;
    private Packages packages;

    enum Shipped {
        CLASS_PATH,
        UBER_JAR,
        /** With an old Guava, as in Spark's class path, which lacks methods that djl-plan uses. */
        OLD_GUAVA,
        /** Its loader's URLs are {@code jar:nested:…}. */
        SPRING_BOOT_3_3,
        /** Its loader's URLs are {@code jar:file:…!/…!/}. */
        SPRING_BOOT_3_1
    }

    @BeforeEach
    void copyModel() throws IOException {
        model = Files.createDirectories(folder.resolve("model")).resolve("net.tflite");
        Files.copy(TestModels.built("uneven"), model);
        log = folder.resolve("application.log");
        packages = new Packages(folder, log);
    }

    private List<String> ship(Shipped how) throws IOException {
        return switch (how) {
            case CLASS_PATH -> packages.classPath();
            case UBER_JAR -> packages.uberJar();
            case OLD_GUAVA -> packages.oldGuava();
            case SPRING_BOOT_3_3 ->
                    packages.bootJar("3.3", "org.springframework.boot.loader.launch.JarLauncher");
            case SPRING_BOOT_3_1 ->
                    packages.bootJar("3.1", "org.springframework.boot.loader.JarLauncher");
        };
    }

    /** The tests of exits cover the plain class path. */
    @Tag("long")
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SPRING_BOOT_3_3")
    void load_shippedInOtherWays_isMeasuredInAProcessThatKnowsNothingOfTheApplication(Shipped how)
            throws Exception {
        load_shipped_isMeasuredInAProcessThatKnowsNothingOfTheApplication(how);
    }

    @ParameterizedTest
    @EnumSource(names = "SPRING_BOOT_3_3")
    void load_shipped_isMeasuredInAProcessThatKnowsNothingOfTheApplication(Shipped how)
            throws Exception {
        Started application =
                Started.run(
                        folder,
                        List.of(),
                        JAVA,
                        ship(how),
                        List.of(model.toString(), "blocking", "NONE"));
        assertEquals(0, application.exitCode(), application.toString());
        assertTrue(application.out().contains("choice MEASURED"), application.toString());
        String child =
                application
                        .out()
                        .lines()
                        .filter(l -> l.startsWith("child "))
                        .findFirst()
                        .orElseThrow();
        assertFalse(child.contains("SECRET"), child);
        assertFalse(child.contains("logback"), child);
        // The measuring process would have emptied the log at its start.
        List<String> lines = Files.readAllLines(log);
        assertTrue(lines.get(0).contains("the application started"), lines.toString());
        assertTrue(lines.get(lines.size() - 1).contains("the application ends"), lines.toString());
        try (Stream<Path> left = Files.list(folder.resolve("tmp"))) {
            assertEquals(
                    0,
                    left.filter(f -> f.getFileName().toString().startsWith("djlplan-measuring"))
                            .count());
        }
    }

    /** In an image made by jlink, the only launcher is the application's own. */
    @Test
    @Tag("long")
    void load_noProgramToStartAProcessWith_staysInCpuKernelsWithOneWarning() throws Exception {
        Path jlink = JAVA.resolveSibling("jlink");
        Path jmods = JAVA.getParent().resolveSibling("jmods");
        Assumptions.assumeTrue(
                Files.isExecutable(jlink) && Files.isDirectory(jmods),
                "this JDK has no jlink, so no image without a launcher can be made");
        Path image = folder.resolve("image");
        Process linking =
                new ProcessBuilder(
                                jlink.toString(),
                                "--add-modules",
                                "java.se,jdk.unsupported",
                                "--output",
                                image.toString())
                        .redirectErrorStream(true)
                        .redirectOutput(folder.resolve("jlink.out").toFile())
                        .start();
        assertEquals(0, linking.waitFor(), Files.readString(folder.resolve("jlink.out")));
        Path launcher = Files.move(image.resolve("bin/java"), image.resolve("bin/application"));

        Started application =
                Started.run(
                        folder,
                        List.of(),
                        launcher,
                        packages.classPath(),
                        List.of(model.toString(), "background", "NONE"));
        assertEquals(0, application.exitCode(), application.toString());
        assertTrue(application.out().contains("choice UNVERIFIED false"), application.toString());
        List<String> warnings =
                Files.readAllLines(log).stream()
                        .filter(l -> l.startsWith("WARN Measurement "))
                        .toList();
        assertEquals(1, warnings.size(), warnings.toString());
        assertTrue(warnings.get(0).contains("there is no program"), warnings.get(0));
    }
}
