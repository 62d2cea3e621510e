package org.djlplan.integration.distribution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.djlplan.integration.support.TestModels;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.Iterables;
import org.djlplan.thirdparty.guava.io.ByteStreams;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the packaged distribution, from a folder outside the project. */
class DistributionTest {

    private static final Path HOME = Path.of(System.getProperty("djlplan.distribution", ""));
    private static final String THIRD_PARTY = "licenses/THIRD-PARTY.txt";
    private static final String OLD_DJL = "against/djl-0.27";
    private static final String OURS = "djl-(memplan|delegation|plan-command|plan-thirdparty)-.*";
    private static final String COMMAND_JAR = "djl-plan-command-";
    private static final String COMMANDS = "org/djlplan/(cli|study)/.*";
    private static final Pattern LINK_TO_COMMANDS = Pattern.compile("org/djlplan/(cli|study)/");

    @TempDir private Path folder;

    @BeforeAll
    static void isBuilt() {
        assertTrue(Files.isDirectory(HOME), "mvn verify makes the distribution");
    }

    private record Result(int exitCode, String out, String err) {}

    private Result run(Path program, Map<String, String> environment, String... arguments)
            throws IOException, InterruptedException {
        List<String> line = new ArrayList<>(List.of(program.toString()));
        line.addAll(List.of(arguments));
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        ProcessBuilder process =
                new ProcessBuilder(line)
                        .directory(folder.toFile())
                        .redirectOutput(out.toFile())
                        .redirectError(err.toFile());
        process.environment().put("JAVA_HOME", System.getProperty("java.home"));
        process.environment().put("DJLPLAN_JAVA_OPTS", "-DENGINE_CACHE_DIR=" + engines());
        process.environment().putAll(environment);
        int exitCode = process.start().waitFor();
        return new Result(exitCode, Files.readString(out), Files.readString(err));
    }

    private static String engines() {
        return System.getProperty("ENGINE_CACHE_DIR");
    }

    private static List<Path> jars() throws IOException {
        return jars("lib");
    }

    private static List<Path> jars(String folder) throws IOException {
        try (Stream<Path> files = Files.list(HOME.resolve(folder))) {
            return files.sorted().toList();
        }
    }

    /** Returns a jar's artifact id, without the version. */
    private static String artifact(Path jar) {
        return jar.getFileName().toString().replaceFirst("-[0-9].*", "");
    }

    @Test
    void launcher_throughLinksAndFromAnotherFolder_runsAModel() throws Exception {
        Path first = Files.createSymbolicLink(folder.resolve("first"), HOME.resolve("bin/djlplan"));
        Path link =
                Files.createSymbolicLink(
                        Files.createDirectory(folder.resolve("with space")).resolve("djlplan"),
                        Path.of("..", first.getFileName().toString()));
        Path model = folder.resolve("net.tflite");
        Files.copy(TestModels.built("chains"), model);
        Result result = run(link, Map.of(), "run", "net.tflite", "--iterations", "2", "--json");
        assertEquals(0, result.exitCode(), result.err());
        JsonObject figures = JsonParser.parseString(result.out()).getAsJsonObject();
        assertEquals("net.tflite", figures.get("model").getAsString());
        assertTrue(figures.get("arenaBytes").getAsLong() > 0, result.out());
    }

    @Test
    void launcher_exportedCdpath_entersNoOtherFolder() throws Exception {
        Path home =
                Files.createSymbolicLink(folder.resolve("home"), HOME.toAbsolutePath())
                        .getFileName();
        Path other = folder.resolve("other");
        Path unused = Files.createDirectories(other.resolve(home).resolve("bin"));
        Result result =
                run(home.resolve("bin/djlplan"), Map.of("CDPATH", other.toString()), "--help");
        assertEquals(0, result.exitCode(), result.err());
    }

    /** The old engine runs with its own DJL and the libraries of the current one. */
    @Test
    @Tag("long")
    void compare_againstShippedDjl_hasItsFigures() throws Exception {
        Path model = Files.copy(TestModels.built("chains"), folder.resolve("net.tflite"));
        Result result =
                run(
                        HOME.resolve("bin/djlplan"),
                        Map.of(),
                        "compare",
                        model.toString(),
                        "--against",
                        "djl-0.27",
                        "--no-delegation",
                        "--iterations",
                        "2",
                        "--json");
        assertEquals(0, result.exitCode(), result.err());
        JsonObject figures = JsonParser.parseString(result.out()).getAsJsonObject();
        assertEquals("0.35.1", djl(figures.getAsJsonObject("stock")));
        JsonObject old = figures.getAsJsonObject("against").getAsJsonObject("djl-0.27");
        assertEquals("0.27.0", djl(old.getAsJsonObject("figures")));
        assertEquals(0, old.get("maxRelativeError").getAsDouble(), 1e-4);
        assertTrue(old.getAsJsonObject("figures").get("medianMillis").getAsDouble() > 0);
    }

    private static String djl(JsonObject figures) {
        return figures.get("djl").getAsString();
    }

    /** There is no second PyTorch, which is nearly all of the distribution's size. */
    @Test
    void jars_ofTheDjlThatIsShippedBeside_areItsOwnAndItsEngineOnly() throws IOException {
        assertEquals(
                List.of("api", "tflite-engine", "tflite-native-cpu"),
                jars(OLD_DJL).stream().map(DistributionTest::artifact).toList());
        assertFalse(jars().stream().anyMatch(jar -> artifact(jar).equals("tflite-engine")));
    }

    @Test
    void launcher_commandsOfBothModules_areThere() throws Exception {
        Result result = run(HOME.resolve("bin/djlplan"), Map.of(), "--help");
        assertEquals(0, result.exitCode(), result.err());
        for (String command : List.of("plan", "run", "compare", "demo", "bench-planner", "tune")) {
            assertTrue(result.out().contains("\n  " + command + " "), result.out());
        }
    }

    @Test
    void launcher_secondRun_takesClassesFromTheArchiveOfTheFirst() throws Exception {
        Path program = HOME.resolve("bin/djlplan");
        Result first = run(program, Map.of(), "--help");
        Path log = folder.resolve("classes.log");
        String options = "-Xlog:class+load:file=" + log;
        Result second = run(program, Map.of("DJLPLAN_JAVA_OPTS", options), "--help");
        assertEquals(0, second.exitCode(), second.err());
        assertEquals(first, second);
        assertTrue(Files.readString(log).contains("source: shared objects file (top)"));
    }

    @Test
    void launcher_tooOldAJava_saysWhichIsNeeded() throws Exception {
        Path java = Files.createDirectories(folder.resolve("jdk/bin")).resolve("java");
        Files.writeString(java, "#!/bin/sh\nexit 9\n");
        assertTrue(java.toFile().setExecutable(true));
        Files.writeString(folder.resolve("jdk/release"), "JAVA_VERSION=\"11.0.2\"\n");
        Result result =
                run(
                        HOME.resolve("bin/djlplan"),
                        Map.of("JAVA_HOME", folder.resolve("jdk").toString()),
                        "--help");
        assertEquals(1, result.exitCode());
        assertTrue(
                result.err().startsWith("djlplan: Java 11 is too old: install Java 17"),
                result.err());
    }

    @Test
    void launcher_noJava_saysWhichIsNeeded() throws Exception {
        Result result =
                run(HOME.resolve("bin/djlplan"), Map.of("JAVA_HOME", folder.toString()), "--help");
        assertEquals(1, result.exitCode());
        assertTrue(result.err().startsWith("djlplan: no java in JAVA_HOME"), result.err());
    }

    /** Every jar has a line and a licence, and every line has a jar. */
    @Test
    void licences_ofEveryJar_areThere() throws IOException {
        Map<String, List<String>> listed = new TreeMap<>();
        for (String line : Files.readAllLines(HOME.resolve(THIRD_PARTY))) {
            List<String> cells = Splitter.on('|').trimResults().splitToList(line);
            if (cells.size() == 4) {
                listed.put(cells.get(0), cells);
            }
        }
        Collection<String> present = new TreeSet<>();
        for (Path jar : Iterables.concat(jars(), jars(OLD_DJL))) {
            if (!jar.getFileName().toString().matches(OURS)) {
                present.add(artifact(jar));
            }
        }
        assertEquals(present, listed.keySet());
        for (List<String> cells : listed.values()) {
            Path file = HOME.resolve("licenses").resolve(cells.get(2));
            assertTrue(Files.size(file) > 0, file.toString());
            assertFalse(cells.get(1).isEmpty(), cells.toString());
        }
        assertTrue(Files.size(HOME.resolve("LICENSE")) > 0);
        assertTrue(Files.size(HOME.resolve("NOTICE")) > 0);
    }

    @Test
    void zip_isTheFolder_withJarsThatAreNotCompressedAgain() throws IOException {
        // The archive of classes comes from earlier runs of the launcher.
        String name = HOME.getFileName().toString();
        try (ZipFile zip = new ZipFile(HOME.resolveSibling(name + ".zip").toFile());
                Stream<Path> files = Files.walk(HOME)) {
            Collection<String> expected =
                    files.filter(Files::isRegularFile)
                            .filter(file -> !file.toString().endsWith(".jsa"))
                            .map(file -> name + "/" + HOME.relativize(file))
                            .collect(Collectors.toCollection(TreeSet::new));
            Collection<String> actual = new TreeSet<>();
            for (Enumeration<? extends ZipEntry> all = zip.entries(); all.hasMoreElements(); ) {
                ZipEntry entry = all.nextElement();
                if (!entry.isDirectory()) {
                    actual.add(entry.getName());
                }
                if (entry.getName().endsWith(".jar")) {
                    assertEquals(ZipEntry.STORED, entry.getMethod(), entry.getName());
                }
            }
            assertEquals(expected, actual);
        }
    }

    /** An application's jar contains no command and names none. */
    @ParameterizedTest
    @ValueSource(strings = {"djl-memplan", "djl-delegation"})
    void runtimeJar_holdsNoCommandAndNoServiceThatIsNotThere(String module) throws IOException {
        Collection<String> runtime = new TreeSet<>();
        for (Path path : jars()) {
            String name = path.getFileName().toString();
            if (name.matches(OURS) && !name.startsWith(COMMAND_JAR)) {
                runtime.addAll(names(path));
            }
        }
        assertFalse(runtime.stream().anyMatch(name -> name.matches(COMMANDS)), runtime.toString());
        Path own =
                jars().stream()
                        .filter(path -> path.getFileName().toString().startsWith(module))
                        .findFirst()
                        .orElseThrow();
        try (JarFile jar = new JarFile(own.toFile())) {
            for (JarEntry entry : jar.stream().toList()) {
                if (entry.getName().endsWith(".class")) {
                    try (InputStream in = jar.getInputStream(entry)) {
                        // The constant pool has the names of all classes that this one links to.
                        String constants =
                                new String(
                                        ByteStreams.toByteArray(in), StandardCharsets.ISO_8859_1);
                        assertFalse(LINK_TO_COMMANDS.matcher(constants).find(), entry.getName());
                    }
                }
                if (entry.getName().startsWith("META-INF/services/") && !entry.isDirectory()) {
                    try (InputStream in = jar.getInputStream(entry)) {
                        new String(ByteStreams.toByteArray(in), StandardCharsets.UTF_8)
                                .lines()
                                .forEach(
                                        line ->
                                                assertTrue(
                                                        runtime.contains(
                                                                line.replace('.', '/') + ".class"),
                                                        entry + " names " + line));
                    }
                }
            }
        }
    }

    /** Classes of commands are in their own jar, which has nothing else. */
    @Test
    void commandJar_holdsOnlyCommands() throws IOException {
        Path command =
                jars().stream()
                        .filter(path -> path.getFileName().toString().startsWith(COMMAND_JAR))
                        .findFirst()
                        .orElseThrow();
        Collection<String> names = names(command);
        names.removeIf(name -> name.startsWith("META-INF/"));
        assertTrue(names.stream().anyMatch(name -> name.endsWith("Command.class")));
        assertTrue(names.stream().allMatch(name -> name.matches(COMMANDS)), names.toString());
    }

    private static Collection<String> names(Path path) throws IOException {
        try (JarFile jar = new JarFile(path.toFile())) {
            return jar.stream()
                    .filter(entry -> !entry.isDirectory())
                    .map(JarEntry::getName)
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }
}
