package org.djlplan.memplan.internal.measure;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.jna.Native;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.child.JavaCommand;
import org.djlplan.memplan.internal.measure.MeasuringChild.Limits;
import org.djlplan.memplan.internal.measure.MeasuringProcess.DelegateClasses;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MeasuringJvmTest {

    private static final ModelRequest MODEL =
            new OpenModelRequest(
                    Path.of("model"),
                    "a file",
                    "xnnpack",
                    Tolerance.AUTO,
                    Path.of("library"),
                    new MemoryNeed(64 << 20, 0),
                    Optional.empty());

    @TempDir private Path folder;

    @Test
    void classPath_ofThisJvm_isWhereNeededClassesCameFromAndNothingElse() throws Exception {
        List<Path> places = new ChildClasses(folder).classPath(false);
        assertEquals(place(MeasuringProcess.class), places.get(0));
        assertEquals(place(ImmutableList.class), places.get(1));
        assertEquals(5, places.size());
        for (Class<?> other : List.of(Test.class, ai.djl.Model.class)) {
            assertFalse(places.contains(place(other)), other.getName());
        }
        try (Stream<Path> copies = Files.list(folder)) {
            assertEquals(0, copies.count());
        }
    }

    @Test
    void ofDelegate_loadersOfAnApplication_haveItsClasses() throws Exception {
        ChildClasses classes = new ChildClasses(folder);
        Path application = folder.resolve("application.jar");
        Files.copy(place(Test.class), application);
        URL nested = new URL("jar:" + application.toUri() + "!/");
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {folder.toUri().toURL(), nested}, before)) {
            thread.setContextClassLoader(loader);
            assertEquals(List.of(), classes.ofDelegate("xnnpack"));
            List<Path> places = classes.ofDelegate("class:a.B");
            assertEquals(folder, places.get(0));
            try (JarFile copy = new JarFile(places.get(1).toFile())) {
                assertNotNull(copy.getEntry("org/junit/jupiter/api/Test.class"));
            }
            assertTrue(places.contains(place(ai.djl.Model.class)), places::toString);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    private static Path place(Class<?> type) throws URISyntaxException {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    @Test
    void command_xnnpack_hasOnlyTheEnvironmentThatMattersAndOneArena() throws IOException {
        ProcessBuilder builder = MeasuringJvm.DEFAULT.command(folder, MODEL);
        Map<String, String> environment = builder.environment();
        assertEquals("1", environment.get("MALLOC_ARENA_MAX"));
        assertFalse(environment.containsKey("MALLOC_MMAP_THRESHOLD_"));
        assertEquals(System.getenv("PATH"), environment.get("PATH"));
        assertTrue(builder.command().contains(MeasuringProcess.class.getName()));
        assertTrue(builder.command().contains("-Xmx" + (64 << 20)));
        List<String> others =
                environment.keySet().stream()
                        .filter(
                                name ->
                                        !name.matches(
                                                "PATH|HOME|USER|LANG|TZ|TMPDIR|LC_.*|MALLOC_.*"
                                                        + "|OMP_.*|OPENBLAS_.*|LD_.*"))
                        .toList();
        assertEquals(List.of(), others);
    }

    /** JDK 24 and later would warn that JNA loads a library. */
    @Test
    void command_programThatUsesJna_printsNoWarnings() throws Exception {
        MeasuringJvm jvm =
                new MeasuringJvm(
                        JavaCommand.ofThisJvm(),
                        UsesJna.class.getName(),
                        List.of(),
                        List.of(place(UsesJna.class)));
        Process process = jvm.command(folder, MODEL).redirectErrorStream(true).start();
        String printed = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertEquals(0, process.waitFor(), printed);
        assertEquals(List.of("JNA is there"), printed.lines().toList());
    }

    /** A program that uses JNA. */
    static final class UsesJna {

        private UsesJna() {}

        public static void main(String[] arguments) {
            System.out.println(Native.POINTER_SIZE > 0 ? "JNA is there" : "no pointers");
        }
    }

    @Test
    void limit_customDelegate_removesOnlyJvmAndLoggingVariables() {
        Map<String, String> environment = new HashMap<>(System.getenv());
        environment.put("VENDOR_GPU", "7");
        environment.put("JAVA_TOOL_OPTIONS", "-javaagent:agent.jar");
        environment.put("LOG4J_CONFIGURATION_FILE", "log4j2.xml");
        environment.put("LD_PRELOAD", "/lib/agent.so:/lib/libjemalloc.so.2");
        MeasuringJvm.limit(environment, true);
        assertEquals("7", environment.get("VENDOR_GPU"));
        assertFalse(environment.containsKey("JAVA_TOOL_OPTIONS"));
        assertFalse(environment.containsKey("LOG4J_CONFIGURATION_FILE"));
        assertEquals("/lib/libjemalloc.so.2", environment.get("LD_PRELOAD"));
    }

    /** Configurations of a delegate that logs are hidden, too. */
    @Test
    void delegateClasses_showEverythingButConfigurationsOfLogging() throws Exception {
        Path application = Files.createDirectory(folder.resolve("application"));
        Path services = Files.createDirectories(application.resolve("META-INF/services"));
        List<String> hidden =
                List.of(
                        "logback.xml",
                        "logback-test.xml",
                        "log4j2.xml",
                        "log4j.properties",
                        "simplelogger.properties",
                        "META-INF/services/org.slf4j.spi.SLF4JServiceProvider");
        for (String name : hidden) {
            Files.createFile(application.resolve(name));
        }
        Files.createFile(services.resolve("my.Service"));
        Files.createFile(application.resolve("kernels.bin"));
        ClassLoader loader =
                DelegateClasses.of(
                        List.of(application, place(Test.class)),
                        ClassLoader.getPlatformClassLoader());
        for (String name : hidden) {
            assertNull(loader.getResource(name), name);
            assertFalse(loader.getResources(name).hasMoreElements(), name);
        }
        assertNotNull(loader.getResource("kernels.bin"));
        assertNotNull(loader.getResource("META-INF/services/my.Service"));
        assertEquals(Test.class.getName(), loader.loadClass(Test.class.getName()).getName());
    }

    @Test
    void timing_anyCandidate_isAMultipleOfAllRunsWithinItsBounds() {
        assertEquals(Limits.DEFAULT.leastTiming(), Limits.DEFAULT.timing(100, 1000));
        // 20 times 11 inferences of a second, including the untimed one.
        assertEquals(Duration.ofSeconds(220), Limits.DEFAULT.timing(10, 1_000_000_000));
        assertEquals(
                Duration.ofNanos(Long.MAX_VALUE),
                Limits.DEFAULT.timing(Integer.MAX_VALUE, Long.MAX_VALUE));
    }
}
