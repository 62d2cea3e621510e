package org.djlplan.integration.publishing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/** Tests that a release has all that a public repository of releases requires, and nothing else. */
class StagedRepositoryTest {

    private static final Map<String, String> MODULES =
            Map.of(
                    "djl-memplan", "org.djlplan.memplan",
                    "djl-delegation", "org.djlplan.delegation",
                    "djl-plan-command", "org.djlplan.cli",
                    "djl-plan-thirdparty", "org.djlplan.thirdparty");

    /** The artifact that has libraries' classes under other names, and no sources of its own. */
    private static final String THIRD_PARTY = "djl-plan-thirdparty";

    private static final List<String> WITHIN =
            List.of(
                    "com.google.flatbuffers:flatbuffers-java",
                    "com.google.guava:failureaccess",
                    "com.google.guava:guava");

    private static final String BOM = "djl-plan-bom";

    /**
     * Packages of others that our classes use: DJL, its dependencies, annotations, and the command
     * line's options.
     */
    private static final Pattern OTHERS =
            Pattern.compile(
                    "(ai[.]djl|com[.]google[.]gson|com[.]sun[.]jna|org[.]slf4j"
                            + "|org[.]apache[.]commons[.]compress|org[.]tensorflow[.]lite"
                            + "|com[.]google[.]errorprone[.]annotations"
                            + "|com[.]google[.]j2objc[.]annotations|org[.]jspecify[.]annotations"
                            + "|io[.]micrometer|picocli)[.].*");

    private static final List<String> OF_A_JAR =
            List.of(".jar", ".pom", "-sources.jar", "-javadoc.jar", "-cyclonedx.json");

    private static final List<String> OF_THE_BOM = List.of(".pom", "-cyclonedx.json");

    /** Media types by the ending of files. */
    private static final Map<String, String> CHECKSUMS = Map.of(".md5", "MD5", ".sha1", "SHA-1");

    private static final String METADATA = "maven-metadata.xml";

    private static Stream<String> jars() {
        return MODULES.keySet().stream().sorted();
    }

    private static Stream<String> jarsWithDependencies() {
        return jars().filter(artifact -> !artifact.equals(THIRD_PARTY));
    }

    private static Stream<String> artifacts() {
        return Stream.concat(jars(), Stream.of(BOM));
    }

    @Test
    void repository_holdsTheFilesOfEachArtifactAndNoOthers() throws IOException {
        Collection<String> expected = new TreeSet<>();
        for (String artifact : artifacts().toList()) {
            String folder = Staged.OURS.resolve(artifact).toString();
            for (String ending : List.of("", ".md5", ".sha1")) {
                expected.add(folder + "/" + METADATA + ending);
            }
            for (String suffix : artifact.equals(BOM) ? OF_THE_BOM : OF_A_JAR) {
                Path file = Staged.REPOSITORY.relativize(Staged.file(artifact, suffix));
                for (String ending : List.of("", ".asc", ".md5", ".sha1")) {
                    expected.add(file + ending);
                }
            }
        }
        assertEquals(
                String.join("\n", expected),
                Staged.files(Staged.REPOSITORY).stream()
                        .map(Path::toString)
                        // Leaves out checksums of signatures, which some versions of Maven add.
                        .filter(name -> !name.matches(".*\\.asc\\.\\w+"))
                        .collect(Collectors.joining("\n")));
    }

    @Test
    void version_isThatOfARelease() throws IOException {
        assertTrue(Staged.version().matches("\\d+\\.\\d+\\.\\d+"), Staged.version());
    }

    @ParameterizedTest
    @MethodSource("artifacts")
    void pom_hasWhatIsAskedForAndNothingOfTheBuild(String artifact) throws Exception {
        Path file = Staged.file(artifact, ".pom");
        // Maven resolves this one in the file itself, also where a BOM is imported.
        String text = Files.readString(file).replace("${project.version}", Staged.version());
        assertFalse(text.contains("${"), text);
        assertFalse(text.contains("SNAPSHOT"), text);
        assertFalse(text.contains("not-set"), text);
        Element pom =
                DocumentBuilderFactory.newInstance()
                        .newDocumentBuilder()
                        .parse(file.toFile())
                        .getDocumentElement();
        for (String absent : List.of("parent", "modules", "build", "profiles", "properties")) {
            assertTrue(children(pom, absent).isEmpty(), absent);
        }
        assertEquals("4.0.0", text(pom, "modelVersion"));
        assertEquals("org.djlplan", text(pom, "groupId"));
        assertEquals(artifact, text(pom, "artifactId"));
        assertEquals(Staged.version(), text(pom, "version"));
        assertEquals(artifact, text(pom, "name"));
        assertTrue(text(pom, "description").length() > 20);
        assertEquals("https://djl-plan.invalid", text(pom, "url"));
        assertEquals("Apache-2.0", text(pom, "licenses/license/name"));
        assertTrue(text(pom, "licenses/license/url").startsWith("https://www.apache.org/licenses"));
        assertFalse(text(pom, "developers/developer/name").isEmpty());
        assertFalse(text(pom, "developers/developer/url").isEmpty());
        for (String connection : List.of("connection", "developerConnection")) {
            assertEquals(
                    "scm:git:https://djl-plan.invalid/djl-plan.git",
                    text(pom, "scm/" + connection));
        }
        assertEquals("https://djl-plan.invalid", text(pom, "scm/url"));
    }

    @ParameterizedTest
    @MethodSource("jarsWithDependencies")
    void dependencies_areReleasesForUseAtRunTime(String artifact) throws Exception {
        List<Element> dependencies = dependencies(artifact);
        assertFalse(dependencies.isEmpty());
        for (Element dependency : dependencies) {
            String of = text(dependency, "groupId") + ":" + text(dependency, "artifactId");
            assertTrue(text(dependency, "version").matches("[0-9][0-9.]*(-jre)?"), of);
            assertFalse(text(dependency, "scope").equals("test"), of);
            // An application's own DJL and engines must not be replaced.
            boolean isGuest =
                    text(dependency, "scope").equals("provided")
                            || text(dependency, "optional").equals("true");
            assertEquals(of.startsWith("ai.djl") || of.startsWith("io.micrometer"), isGuest, of);
        }
    }

    private static List<Element> dependencies(String artifact) throws Exception {
        Element pom =
                DocumentBuilderFactory.newInstance()
                        .newDocumentBuilder()
                        .parse(Staged.file(artifact, ".pom").toFile())
                        .getDocumentElement();
        return children(children(pom, "dependencies").get(0), "dependency");
    }

    @Test
    void thirdParty_hasNoDependencies() throws Exception {
        assertFalse(Files.readString(Staged.file(THIRD_PARTY, ".pom")).contains("<dependencies>"));
    }

    /**
     * Guava and FlatBuffers are included only under other names, with all the classes that are
     * used. So an application may have any version of them.
     */
    @ParameterizedTest
    @MethodSource("jars")
    void jar_usesNothingButOursDjlAndWhatComesWithIt(String artifact) throws Exception {
        StringWriter report = new StringWriter();
        PrintWriter out = new PrintWriter(report);
        List<String> ours = new ArrayList<>();
        for (String each : jars().toList()) {
            ours.add(Staged.file(each, ".jar").toString());
        }
        ToolProvider.findFirst("jdeps")
                .orElseThrow()
                .run(
                        out,
                        out,
                        "--missing-deps",
                        "--class-path",
                        String.join(File.pathSeparator, ours),
                        Staged.file(artifact, ".jar").toString());
        // Each line names a class that another class, left of the arrow, uses.
        Collection<String> others = new TreeSet<>();
        report.toString()
                .lines()
                .map(line -> line.replaceFirst(".* -> ", "").replaceFirst(" .*", ""))
                .filter(name -> name.matches("[a-z].*[.].*"))
                .forEach(others::add);
        assertFalse(others.isEmpty(), report.toString());
        others.removeIf(name -> OTHERS.matcher(name).matches());
        assertEquals(List.of(), List.copyOf(others));
    }

    @Test
    void bom_managesEveryJar() throws Exception {
        Element pom =
                DocumentBuilderFactory.newInstance()
                        .newDocumentBuilder()
                        .parse(Staged.file(BOM, ".pom").toFile())
                        .getDocumentElement();
        Collection<String> managed = new TreeSet<>();
        assertEquals(Staged.version(), text(pom, "version"));
        Element management = children(pom, "dependencyManagement").get(0);
        for (Element each : children(children(management, "dependencies").get(0), "dependency")) {
            assertEquals("org.djlplan", text(each, "groupId"));
            assertEquals("${project.version}", text(each, "version"));
            managed.add(text(each, "artifactId"));
        }
        assertEquals(new TreeSet<>(MODULES.keySet()), managed);
    }

    private static List<Element> children(Element element, String name) {
        List<Element> found = new ArrayList<>();
        for (Node child = element.getFirstChild(); child != null; child = child.getNextSibling()) {
            if (child.getNodeName().equals(name)) {
                found.add((Element) child);
            }
        }
        return found;
    }

    /** Returns what an element has at a path, or an empty text. */
    private static String text(Element element, String path) {
        Element at = element;
        for (String name : path.split("/", -1)) {
            List<Element> next = children(at, name);
            if (next.isEmpty()) {
                return "";
            }
            at = next.get(0);
        }
        return at.getTextContent().strip();
    }

    @Test
    void checksums_areThoseOfTheFiles() throws Exception {
        int checked = 0;
        for (Path path : Staged.files(Staged.REPOSITORY)) {
            String name = path.toString();
            String ending = name.substring(name.lastIndexOf('.'));
            if (CHECKSUMS.containsKey(ending)) {
                Path of = Path.of(name.substring(0, name.length() - ending.length()));
                MessageDigest digest = MessageDigest.getInstance(CHECKSUMS.get(ending));
                byte[] sum = digest.digest(Files.readAllBytes(Staged.REPOSITORY.resolve(of)));
                assertEquals(
                        String.format("%0" + 2 * sum.length + "x", new BigInteger(1, sum)),
                        Files.readString(Staged.REPOSITORY.resolve(path)).strip(),
                        name);
                checked++;
            }
        }
        long files = jars().count() * OF_A_JAR.size() + OF_THE_BOM.size() + artifacts().count();
        assertTrue(
                checked >= CHECKSUMS.size() * files, "only " + checked + " checksums were found");
    }

    /** The key was made for this release alone. */
    @Test
    void signatures_areGood(@TempDir Path folder) throws Exception {
        gpg(folder, "--import", Staged.TARGET.resolve("key.asc").toString());
        int checked = 0;
        for (Path path : Staged.files(Staged.REPOSITORY)) {
            if (path.toString().endsWith(".asc")) {
                String signature = Staged.REPOSITORY.resolve(path).toString();
                gpg(folder, "--verify", signature, signature.replaceFirst("\\.asc$", ""));
                checked++;
            }
        }
        assertEquals(jars().count() * OF_A_JAR.size() + OF_THE_BOM.size(), checked);
    }

    private static void gpg(Path home, String... arguments) throws Exception {
        List<String> command =
                new ArrayList<>(List.of("gpg", "--batch", "--quiet", "--no-autostart"));
        command.addAll(List.of("--homedir", home.toString()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String printed =
                new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), command + ": " + printed);
    }

    @Test
    void secondBuild_inAnotherFolder_isTheSameBytes() throws IOException {
        List<String> different = new ArrayList<>();
        int compared = 0;
        for (Path path : Staged.files(Staged.AGAIN)) {
            // Metadata contain the time of the deployment.
            if (!path.toString().contains(METADATA)) {
                compared++;
                if (Files.mismatch(Staged.REPOSITORY.resolve(path), Staged.AGAIN.resolve(path))
                        >= 0) {
                    different.add(path.toString());
                }
            }
        }
        assertEquals(List.of(), different);
        assertEquals(3 * (jars().count() * OF_A_JAR.size() + OF_THE_BOM.size()), compared);
    }

    @ParameterizedTest
    @MethodSource("jars")
    void jar_hasANameAsAModuleAndItsLicence(String artifact) throws IOException {
        try (JarFile jar = new JarFile(Staged.file(artifact, ".jar").toFile())) {
            assertEquals(
                    MODULES.get(artifact),
                    jar.getManifest().getMainAttributes().getValue("Automatic-Module-Name"));
            assertTrue(jar.getEntry("META-INF/LICENSE").getSize() > 10_000);
            assertTrue(jar.getEntry("META-INF/NOTICE").getSize() > 0);
            List<String> elsewhere =
                    jar.stream()
                            .map(ZipEntry::getName)
                            .filter(name -> name.endsWith(".class"))
                            .filter(name -> !name.matches("(org/djlplan|META-INF/djlplan)/.*"))
                            .toList();
            // A package that another module has, too, is an error on a module path.
            assertEquals(List.of(), elsewhere);
        }
    }

    @Test
    void jar_hasTheNativeLibraryOfEachPlatform() throws IOException {
        try (JarFile jar = new JarFile(Staged.file("djl-memplan", ".jar").toFile())) {
            for (String platform : List.of("linux-x86_64", "linux-aarch64")) {
                assertTrue(
                        jar.getEntry("native/" + platform + "/libdjlplan.so").getSize() > 0,
                        platform);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("jarsWithDependencies")
    void sourcesAndDocumentation_areOfEachPublicClass(String artifact) throws IOException {
        List<String> classes = names(artifact, ".jar");
        List<String> sources = names(artifact, "-sources.jar");
        List<String> pages = names(artifact, "-javadoc.jar");
        int compared = 0;
        for (String name : classes) {
            if (name.matches("org/djlplan/.*/[A-Z]\\w*\\.class")) {
                compared++;
                String type = name.replaceFirst("\\.class$", "");
                assertTrue(sources.contains(type + ".java"), name);
            }
        }
        assertTrue(compared > 10, "only " + compared + " classes were found");
        assertTrue(pages.contains("index.html"), pages.toString());
        for (String type : List.of("PlannedTranslatorFactory", "PlanHandle", "report/PlanReport")) {
            String page = MODULES.get(artifact) + "/org/djlplan/memplan/" + type + ".html";
            assertEquals(artifact.equals("djl-memplan"), pages.contains(page), page);
        }
    }

    private static List<String> names(String artifact, String suffix) throws IOException {
        try (JarFile jar = new JarFile(Staged.file(artifact, suffix).toFile())) {
            return jar.stream().map(ZipEntry::getName).toList();
        }
    }

    /**
     * The bill lists every dependency, and every library whose classes the jar has, with the
     * licence's name.
     */
    @ParameterizedTest
    @MethodSource("jars")
    void billOfMaterials_listsEachLibrary(String artifact) throws Exception {
        JsonObject bill =
                JsonParser.parseString(Files.readString(Staged.file(artifact, "-cyclonedx.json")))
                        .getAsJsonObject();
        assertEquals("CycloneDX", bill.get("bomFormat").getAsString());
        JsonObject own = bill.getAsJsonObject("metadata").getAsJsonObject("component");
        assertEquals(artifact, own.get("name").getAsString());
        assertEquals(Staged.version(), own.get("version").getAsString());
        Collection<String> listed = new TreeSet<>();
        for (JsonElement component : bill.getAsJsonArray("components")) {
            JsonObject each = component.getAsJsonObject();
            listed.add(each.get("group").getAsString() + ":" + each.get("name").getAsString());
            assertTrue(each.getAsJsonArray("licenses").size() > 0, each.toString());
            assertTrue(each.getAsJsonArray("hashes").size() > 0, each.toString());
        }
        Collection<String> expected = new TreeSet<>();
        if (artifact.equals(THIRD_PARTY)) {
            expected.addAll(WITHIN);
        } else {
            for (Element dependency : dependencies(artifact)) {
                if (!text(dependency, "scope").equals("provided")
                        && !text(dependency, "optional").equals("true")) {
                    expected.add(
                            text(dependency, "groupId") + ":" + text(dependency, "artifactId"));
                }
            }
        }
        assertTrue(listed.containsAll(expected), expected + " are not all in " + listed);
    }
}
