package org.djlplan.integration.documents;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import javax.xml.parsers.DocumentBuilderFactory;
import org.djlplan.integration.documents.Markdown.Block;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;

/**
 * Checks that code in documents works when it is pasted: Java compiles, and dependencies have the
 * tested versions.
 *
 * <p>A block of Java with a class is compiled as it is. Any other block is a fragment: members of a
 * class if it begins with {@code static}, otherwise statements of a method. A fragment is compiled
 * with {@link #IMPORTS}.
 */
class SnippetsTest {

    private static final List<String> IMPORTS =
            List.of(
                    "ai.djl.*",
                    "ai.djl.huggingface.translator.*",
                    "ai.djl.inference.*",
                    "ai.djl.modality.*",
                    "ai.djl.modality.cv.*",
                    "ai.djl.modality.cv.translator.*",
                    "ai.djl.repository.zoo.*",
                    "ai.djl.translate.*",
                    "io.micrometer.core.instrument.*",
                    "java.nio.file.*",
                    "java.util.*",
                    "org.djlplan.memplan.*",
                    "org.djlplan.memplan.errors.*",
                    "org.djlplan.memplan.metrics.*",
                    "org.djlplan.memplan.report.*",
                    "org.djlplan.memplan.rows.*");

    /**
     * Gradle's coordinates {@code "group:artifact:version:classifier"}, without the end if it is
     * not needed.
     */
    private static final Pattern COORDINATES = Pattern.compile("\"([\\w.]+(?::[\\w.-]+){1,3})\"");

    private static final Pattern CLASS =
            Pattern.compile("(?m)^(?:public )?(?:final )?class (\\w+)");

    /** The bill of materials, which sets our modules' versions for applications. */
    private static final Path BOM = Markdown.ROOT.resolve("distribution/bom/pom.xml");

    @TempDir Path folder;

    @Test
    void java_everyBlock_compiles() throws IOException {
        List<String> problems = new ArrayList<>();
        int compiled = 0;
        for (Markdown document : Markdown.all()) {
            if (Markdown.isOfPipelines(document)) {
                continue;
            }
            for (Block block : document.blocks("java")) {
                compiled++;
                for (String error : compile(block.code())) {
                    problems.add(document.file() + ", line " + block.line() + ": " + error);
                }
            }
        }
        assertEquals(List.of(), problems);
        assertTrue(compiled >= 5, "only " + compiled + " blocks were found");
    }

    @Test
    void compile_wrongFragment_isReported() throws IOException {
        assertEquals(List.of(), compile("Path here = Path.of(\".\");"));
        assertEquals(1, compile("Path here = 1;").size());
        assertEquals(1, compile("static int one() { return \"1\"; }").size());
    }

    private List<String> compile(String code) throws IOException {
        Matcher declared = CLASS.matcher(code);
        boolean complete = declared.find();
        String name = complete ? declared.group(1) : "Fragment";
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> diagnostics = new DiagnosticCollector<>();
        List<String> options =
                List.of(
                        "-proc:none",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-d",
                        Files.createDirectories(folder.resolve("classes")).toString());
        Boolean unused =
                compiler.getTask(
                                null,
                                null,
                                diagnostics,
                                options,
                                null,
                                List.of(new Source(name, complete ? code : wrap(code))))
                        .call();
        return diagnostics.getDiagnostics().stream()
                .filter(diagnostic -> diagnostic.getKind() == Diagnostic.Kind.ERROR)
                .map(diagnostic -> diagnostic.getMessage(Locale.ROOT))
                .toList();
    }

    private static String wrap(String fragment) {
        StringBuilder text = new StringBuilder();
        IMPORTS.forEach(name -> text.append("import ").append(name).append(";\n"));
        boolean members = fragment.startsWith("static ");
        return text.append("class Fragment {\n")
                .append(members ? "" : "static void run() throws Exception {\n")
                .append(fragment)
                .append(members ? "}\n" : "}}\n")
                .toString();
    }

    /** A Java source in memory. */
    private static final class Source extends SimpleJavaFileObject {

        private final String code;

        private Source(String name, String code) {
            super(URI.create("string:///" + name + ".java"), Kind.SOURCE);
            this.code = code;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return code;
        }
    }

    /** Checks the XML and Kotlin of documents, and the examples' dependencies on DJL and on us. */
    @Test
    void dependencies_ofDocumentsAndExamples_areOfVersionsThatAreTested() throws Exception {
        Map<String, List<String>> named = new HashMap<>();
        for (Markdown document : Markdown.all()) {
            List<String> artifacts = new ArrayList<>();
            for (Block block : document.blocks("xml")) {
                artifacts.addAll(artifacts(parse(block.code()), Map.of()));
            }
            for (Block block : document.blocks("kotlin")) {
                COORDINATES
                        .matcher(block.code())
                        .results()
                        .map(found -> found.group(1))
                        .map(name -> name + ":".repeat(3 - name.replaceAll("[^:]", "").length()))
                        .forEach(artifacts::add);
            }
            named.put(document.file().toString(), artifacts);
        }
        try (DirectoryStream<Path> poms =
                Files.newDirectoryStream(Markdown.EXAMPLES, SnippetsTest::hasPom)) {
            for (Path example : poms) {
                List<String> artifacts =
                        artifacts(parse(Files.readString(example.resolve("pom.xml"))), Map.of());
                artifacts.removeIf(
                        artifact ->
                                !artifact.matches("(org\\.djlplan|ai\\.djl|org\\.bytedeco)\\b.*"));
                named.put(example.toString(), artifacts);
            }
        }
        Set<String> tested = testedArtifacts();
        int found = named.values().stream().mapToInt(List::size).sum();
        named.values().forEach(artifacts -> artifacts.removeIf(tested::contains));
        named.values().removeIf(List::isEmpty);
        assertEquals(Map.of(), named);
        assertTrue(found >= 34, "only " + found + " dependencies were found");
    }

    private static boolean hasPom(Path folder) {
        return Files.exists(folder.resolve("pom.xml"));
    }

    /**
     * Returns the artifacts that the poms manage, with the versions of both releases of DJL, and
     * our own modules, and those of frameworks. Ours also occur without a version, as the bill of
     * materials allows.
     */
    private static Set<String> testedArtifacts() throws Exception {
        Document parent = parse(Files.readString(Markdown.ROOT.resolve("pom.xml")));
        Document engines = parse(Files.readString(Path.of("engines", "pom.xml")));
        Document here = parse(Files.readString(Path.of("pom.xml")));
        Map<String, String> properties = new HashMap<>(properties(parent));
        properties.putAll(properties(engines));
        properties.put("project.version", properties.get("revision"));
        Set<String> artifacts = new HashSet<>(artifacts(parent, properties));
        artifacts.addAll(artifacts(engines, properties));
        artifacts.addAll(artifacts(here, properties));
        artifacts.addAll(artifacts(parse(Files.readString(BOM)), Map.of("project.version", "")));
        for (String framework : List.of("beam", "kafka-streams")) {
            Document pom = parse(Files.readString(Path.of(framework, "pom.xml")));
            artifacts.addAll(artifacts(pom, properties(pom)));
        }
        artifacts.add("org.djlplan:djl-plan-bom:" + properties.get("revision") + ":");
        return artifacts;
    }

    /** Returns the properties that no profile changes. */
    private static Map<String, String> properties(Document pom) {
        Map<String, String> properties = new HashMap<>();
        NodeList all = pom.getElementsByTagName("properties").item(0).getChildNodes();
        for (int i = 0; i < all.getLength(); i++) {
            properties.put(all.item(i).getNodeName(), all.item(i).getTextContent().strip());
        }
        return properties;
    }

    /** Returns {@code group:artifact:version:classifier} of each dependency. */
    private static List<String> artifacts(Document document, Map<String, String> properties) {
        List<String> artifacts = new ArrayList<>();
        for (String tag : List.of("dependency", "additionalClasspathDependency")) {
            NodeList dependencies = document.getElementsByTagName(tag);
            for (int i = 0; i < dependencies.getLength(); i++) {
                Element dependency = (Element) dependencies.item(i);
                String artifact =
                        String.join(
                                ":",
                                childText(dependency, "groupId"),
                                childText(dependency, "artifactId"),
                                childText(dependency, "version"),
                                childText(dependency, "classifier"));
                for (Map.Entry<String, String> property : properties.entrySet()) {
                    artifact =
                            artifact.replace("${" + property.getKey() + "}", property.getValue());
                }
                artifacts.add(artifact);
            }
        }
        return artifacts;
    }

    private static String childText(Element element, String name) {
        for (Node child = element.getFirstChild(); child != null; child = child.getNextSibling()) {
            if (child.getNodeName().equals(name)) {
                return child.getTextContent().strip();
            }
        }
        return "";
    }

    private static Document parse(String xml) throws Exception {
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(xml.getBytes(StandardCharsets.UTF_8)));
    }
}
