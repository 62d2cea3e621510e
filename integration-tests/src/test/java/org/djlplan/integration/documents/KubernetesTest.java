package org.djlplan.integration.documents;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.djlplan.cli.DjlPlan;
import org.djlplan.delegation.internal.DelegationKey;
import org.djlplan.integration.documents.Markdown.Block;
import org.djlplan.memplan.internal.config.OptionKey;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * Checks that the Kubernetes manifest is valid, and that its options, commands and sizes are
 * djl-plan's.
 */
class KubernetesTest {

    private static final Path MANIFEST =
            Markdown.ROOT.resolve("integration-tests/examples/kubernetes/classifier.yaml");
    private static final Path DOCUMENT = Markdown.ROOT.resolve("docs/kubernetes.md");
    private static final Path SIZE = Markdown.ROOT.resolve("docs/results/size.txt");

    private static final Pattern PROPERTY = Pattern.compile("-Ddjlplan\\.([\\w.]+)=(\\S+)");
    private static final Pattern COMMAND = Pattern.compile("bin/djlplan (.+)");

    /** The row of memory planning: its fifth figure is the limit of a container. */
    private static final Pattern PLANNED =
            Pattern.compile("(?m)^djl-plan +\\S+ +(\\S+) +\\S+ +\\S+ +(\\d+)Mi ");

    private static Map<String, Object> pod() throws IOException {
        LoaderOptions options = new LoaderOptions();
        options.setAllowDuplicateKeys(false);
        Yaml yaml = new Yaml(new SafeConstructor(options));
        Map<String, Object> deployment = yaml.load(Files.readString(MANIFEST));
        assertEquals("apps/v1", deployment.get("apiVersion"));
        assertEquals("Deployment", deployment.get("kind"));
        return map(map(map(deployment, "spec"), "template"), "spec");
    }

    @SuppressWarnings("unchecked") // the manifest has a map there, or the test fails
    private static Map<String, Object> map(Map<String, Object> in, String key) {
        return (Map<String, Object>) in.get(key);
    }

    @SuppressWarnings("unchecked") // the manifest has a list of maps there, or the test fails
    private static Map<String, Object> only(Map<String, Object> in, String key) {
        List<Map<String, Object>> list = (List<Map<String, Object>>) in.get(key);
        assertEquals(1, list.size(), key);
        return list.get(0);
    }

    private static int mebibytes(Map<String, Object> container, String kind) {
        String memory = map(map(container, "resources"), kind).get("memory").toString();
        assertTrue(memory.endsWith("Mi"), memory);
        return Integer.parseInt(memory.replace("Mi", ""));
    }

    @Test
    void memory_ofTheService_isTheMeasuredSizeAndTheLimitOfDelegation() throws IOException {
        MatchResult row =
                PLANNED.matcher(Files.readString(SIZE)).results().findFirst().orElseThrow();
        Map<String, Object> service = only(pod(), "containers");
        int limit = mebibytes(service, "limits");
        assertEquals(Integer.parseInt(row.group(2)) + 64, limit);
        assertEquals(limit, mebibytes(service, "requests"));
        String options = service.get("env").toString();
        assertTrue(options.contains("-Ddjlplan.delegation.maxMemory=64MB"), options);
        assertTrue(options.contains("-Xmx" + row.group(1).replaceAll("\\D.*", "") + "m"), options);
    }

    @Test
    void volumes_thatContainersMount_exist() throws IOException {
        Map<String, Object> pod = pod();
        Object volume = only(pod, "volumes").get("name");
        for (String kind : List.of("initContainers", "containers")) {
            assertEquals(volume, only(only(pod, kind), "volumeMounts").get("name"));
        }
    }

    @Test
    void options_ofTheService_exist() throws IOException {
        Set<String> known =
                Stream.concat(
                                Stream.of(OptionKey.values()).map(OptionKey::key),
                                Stream.of(DelegationKey.values()).map(DelegationKey::key))
                        .collect(Collectors.toSet());
        List<String> named =
                PROPERTY.matcher(Files.readString(MANIFEST))
                        .results()
                        .map(option -> option.group(1))
                        .toList();
        assertTrue(known.containsAll(named) && !named.isEmpty(), named.toString());
    }

    @Test
    void command_ofTheInitContainer_measuresWithTheOptionsOfTheService() throws IOException {
        String manifest = Files.readString(MANIFEST);
        String command =
                COMMAND.matcher(manifest)
                        .results()
                        .map(found -> found.group(1))
                        .filter(found -> found.startsWith("tune"))
                        .findFirst()
                        .orElseThrow();
        DjlPlan.commandLine().parseArgs(command.split(" ", -1));
        Map<String, String> options =
                PROPERTY.matcher(manifest)
                        .results()
                        .collect(
                                Collectors.toMap(found -> found.group(1), found -> found.group(2)));
        assertTrue(command.contains("--threads " + options.get("memplan.threads")), command);
        assertTrue(
                command.contains("--max-memory " + options.get("delegation.maxMemory")), command);
    }

    /** The page indents its quotations less. */
    @Test
    void document_quotedParts_areLinesOfTheManifest() throws IOException {
        String manifest = Files.readString(MANIFEST);
        List<Block> quoted = Markdown.read(DOCUMENT).blocks("yaml");
        assertEquals(3, quoted.size());
        for (Block block : quoted) {
            String first = block.code().lines().findFirst().orElseThrow();
            Matcher there = Pattern.compile("(?m)^( +)" + Pattern.quote(first)).matcher(manifest);
            assertTrue(there.find(), block.code());
            assertTrue(manifest.contains(block.code().indent(there.group(1).length())), first);
        }
    }
}
