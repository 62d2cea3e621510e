package org.djlplan.integration.publishing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Builds an application from the published artifacts, and runs it in each way that the documents
 * describe.
 */
class ConsumerTest {

    private static final String PLANNED = "arena true, outputs 1\nmodule ";

    /** The modules that an image needs according to the documents. */
    private static final String MODULES_OF_AN_IMAGE =
            "java.desktop,java.logging,java.management,java.net.http,java.xml,jdk.unsupported";

    private static final String FLAG = "--enable-native-access=ALL-UNNAMED";

    /** The variable for the JDK versions that must be present, separated by spaces; CI sets it. */
    private static final String REQUIRED = "DJLPLAN_REQUIRE_JDKS";

    /** One application for each JDK. */
    private static final Map<Jdk, Consumer> BUILT = new HashMap<>();

    @TempDir private static Path folder;

    @TempDir private Path image;

    private static List<Jdk> jdks() throws IOException {
        return Jdk.all();
    }

    private static Stream<Jdk> jdksThatReportNativeAccess() throws IOException {
        return jdks().stream().filter(Jdk::reportsNativeAccess);
    }

    private static synchronized Consumer consumer(Jdk jdk) throws Exception {
        Consumer built = BUILT.get(jdk);
        if (built == null) {
            built =
                    Consumer.build(
                            jdk, Files.createDirectory(folder.resolve("on" + jdk.feature())));
            BUILT.put(jdk, built);
        }
        return built;
    }

    @Test
    void jdks_thatAreRequired_areThere() throws IOException {
        List<String> there = jdks().stream().map(jdk -> Integer.toString(jdk.feature())).toList();
        for (String required : System.getenv().getOrDefault(REQUIRED, "17").split(" ", -1)) {
            assertTrue(there.contains(required), "JDK " + required + " is not in " + there);
        }
    }

    @ParameterizedTest
    @MethodSource("jdks")
    void build_withEmptyRepository_takesOurArtifactsFromTheStagedOne(Jdk jdk) throws Exception {
        assertEquals(List.of("staged"), consumer(jdk).sourcesOfOurs());
    }

    /** Its manifest allows native access, so that nothing is reported. */
    @ParameterizedTest
    @MethodSource("jdks")
    void run_jarWithAClassPath_isPlannedWithoutWarnings(Jdk jdk) throws Exception {
        Consumer consumer = consumer(jdk);
        assertPlanned(
                false,
                consumer.run(
                        Path.of(jdk.tool("java")), List.of("-jar", consumer.jar().toString())));
    }

    private static void assertPlanned(boolean isModule, Consumer.Result result) {
        assertEquals(0, result.exitCode(), result.toString());
        assertEquals(PLANNED + isModule, result.out().strip(), result.toString());
        assertEquals(List.of(), warningsOfTheJvm(result));
    }

    private static List<String> warningsOfTheJvm(Consumer.Result result) {
        return result.err().lines().filter(line -> line.startsWith("WARNING")).toList();
    }

    /** The JVM names the flag once, for JNA. */
    @ParameterizedTest
    @MethodSource("jdksThatReportNativeAccess")
    void run_nativeAccessNotAllowed_isReportedUnlessTheFlagIsGiven(Jdk jdk) throws Exception {
        Consumer consumer = consumer(jdk);
        Path java = Path.of(jdk.tool("java"));
        List<String> application = onClassPath(consumer);
        Consumer.Result reported = consumer.run(java, application);
        assertEquals(0, reported.exitCode(), reported.toString());
        List<String> warnings = warningsOfTheJvm(reported);
        assertTrue(warnings.stream().anyMatch(line -> line.contains("com.sun.jna")), "" + warnings);
        assertEquals(
                1, warnings.stream().filter(line -> line.contains(FLAG)).count(), "" + warnings);
        assertFalse(warnings.toString().contains("org.djlplan"), warnings.toString());

        List<String> allowed = new ArrayList<>(List.of(FLAG));
        allowed.addAll(application);
        assertPlanned(false, consumer.run(java, allowed));
    }

    @ParameterizedTest
    @MethodSource("jdksThatReportNativeAccess")
    void run_nativeAccessDenied_failsWithTheFlagInTheMessage(Jdk jdk) throws Exception {
        Consumer consumer = consumer(jdk);
        List<String> denied = new ArrayList<>(List.of("--illegal-native-access=deny"));
        denied.addAll(onClassPath(consumer));
        Consumer.Result result = consumer.run(Path.of(jdk.tool("java")), denied);
        assertNotEquals(0, result.exitCode(), result.toString());
        assertTrue(result.err().contains("add " + FLAG), result.toString());
    }

    private static List<String> onClassPath(Consumer consumer) throws IOException {
        List<Path> classPath = new ArrayList<>(List.of(consumer.jar()));
        classPath.addAll(consumer.libraries(""));
        return List.of("-cp", Consumer.path(classPath), "consumer.Main");
    }

    /**
     * All but the engine's native library is on the module path; that library is found on the class
     * path.
     */
    @ParameterizedTest
    @MethodSource("jdks")
    void run_onTheModulePath_isPlanned(Jdk jdk) throws Exception {
        Consumer consumer = consumer(jdk);
        List<Path> modules = new ArrayList<>(List.of(consumer.jar()));
        modules.addAll(consumer.libraries(""));
        List<Path> engine = consumer.libraries("tensorflow-lite-");
        modules.removeAll(engine);
        List<String> options = new ArrayList<>();
        if (jdk.reportsNativeAccess()) {
            options.add("--enable-native-access=com.sun.jna");
        }
        options.addAll(
                List.of(
                        "--module-path",
                        Consumer.path(modules),
                        "--class-path",
                        Consumer.path(engine),
                        "--add-modules",
                        // Automatic modules do not require these explicit modules.
                        "com.google.gson,org.slf4j,org.slf4j.simple",
                        "--module",
                        "consumer/consumer.Main"));
        assertPlanned(true, consumer.run(Path.of(jdk.tool("java")), options));
    }

    @ParameterizedTest
    @MethodSource("jdks")
    void run_inAnImageMadeByJlink_isPlanned(Jdk jdk) throws Exception {
        Path home = image.resolve("jre");
        Consumer.Result linked =
                Consumer.run(
                        new ProcessBuilder(
                                jdk.tool("jlink"),
                                "--add-modules",
                                MODULES_OF_AN_IMAGE,
                                "--output",
                                home.toString()),
                        image,
                        image);
        assertEquals(0, linked.exitCode(), linked.toString());
        Consumer consumer = consumer(jdk);
        assertPlanned(
                false,
                consumer.run(home.resolve("bin/java"), List.of("-jar", consumer.jar().toString())));
    }
}
