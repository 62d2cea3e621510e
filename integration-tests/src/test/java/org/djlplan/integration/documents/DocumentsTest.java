package org.djlplan.integration.documents;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.djlplan.cli.DjlPlan;
import org.djlplan.delegation.internal.DelegationKey;
import org.djlplan.integration.documents.Markdown.Block;
import org.djlplan.memplan.internal.config.OptionKey;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;

/**
 * Checks that the names, files and commands in documents exist. {@link SnippetsTest} checks their
 * code.
 */
class DocumentsTest {

    private static final Path README = Markdown.ROOT.resolve("README.md");
    private static final Path ARCHITECTURE =
            Markdown.ROOT.resolve("docs").resolve("architecture.md");

    /**
     * The name of an option or a package; only the architecture mentions packages by short names.
     */
    private static final Pattern OPTION =
            Pattern.compile(
                    "(?<![\\w./])((?:memplan|delegation)\\.(?!md\\b|txt\\b)[a-z]\\w*)(?![\\w(]|\\.[a-z])");

    private static final Pattern TEST_CLASS = Pattern.compile("-Dtest='?([\\w#+,]+)");

    @Test
    void readme_size_isAtMostSevenKilobytes() throws IOException {
        assertTrue(Files.size(README) <= 7000, "README.md has " + Files.size(README) + " bytes");
    }

    @Test
    void links_relative_resolveToFilesAndHeadings() throws IOException {
        List<String> broken = new ArrayList<>();
        int followed = 0;
        for (Markdown document : Markdown.all()) {
            for (String link : document.links()) {
                if (!link.contains("://")) {
                    followed++;
                    if (!resolves(document, link)) {
                        broken.add(document.file() + ": " + link);
                    }
                }
            }
        }
        assertEquals(List.of(), broken);
        assertTrue(followed > 50, "only " + followed + " links were found");
    }

    private static boolean resolves(Markdown document, String link) throws IOException {
        String[] parts = link.split("#", 2);
        Path target =
                parts[0].isEmpty() ? document.file() : document.file().resolveSibling(parts[0]);
        return Files.exists(target)
                && (parts.length == 1 || Markdown.read(target).anchors().contains(parts[1]));
    }

    @Test
    void options_named_exist() throws IOException {
        Set<String> known =
                Stream.concat(
                                Arrays.stream(OptionKey.values()).map(OptionKey::key),
                                Arrays.stream(DelegationKey.values()).map(DelegationKey::key))
                        .collect(Collectors.toSet());
        Set<String> named = new TreeSet<>();
        List<String> unknown = new ArrayList<>();
        for (Markdown document : Markdown.all()) {
            Matcher option = OPTION.matcher(Files.readString(document.file()));
            while (option.find()) {
                String name = option.group(1);
                if (known.contains(name)) {
                    named.add(name);
                } else if (!document.file().equals(ARCHITECTURE)
                        || !Sources.packages().contains("org.djlplan." + name)) {
                    unknown.add(document.file() + ": " + name);
                }
            }
        }
        assertEquals(List.of(), unknown);
        assertEquals(new TreeSet<>(known), named);
    }

    @Test
    void commands_inDocuments_areParsed() throws IOException {
        List<String> wrong = new ArrayList<>();
        int parsed = 0;
        for (Markdown document : Markdown.all()) {
            for (String line : commands(document)) {
                parsed++;
                try {
                    parse(arguments(line));
                } catch (ParameterException e) {
                    wrong.add(document.file() + ": " + line + ": " + e.getMessage());
                }
            }
        }
        assertEquals(List.of(), wrong);
        assertTrue(parsed > 20, "only " + parsed + " commands were found");
    }

    /** Parses a command; within text, a command may lack the model. */
    private static void parse(List<String> arguments) {
        try {
            DjlPlan.commandLine().parseArgs(arguments.toArray(new String[0]));
        } catch (MissingParameterException e) {
            List<String> completed = new ArrayList<>(arguments);
            completed.add("MODEL");
            DjlPlan.commandLine().parseArgs(completed.toArray(new String[0]));
        }
    }

    /** Returns lines of shell blocks, and inline code, that begin with the command. */
    private static List<String> commands(Markdown document) {
        Stream<String> lines =
                document.blocks("sh").stream().map(Block::code).flatMap(String::lines);
        return Stream.concat(lines, document.inlineCode().stream())
                .filter(line -> line.matches("(\\./|bin/)?djlplan( .*)?"))
                .toList();
    }

    /**
     * Returns arguments without comments and brackets, and with numbers instead of placeholders.
     */
    private static List<String> arguments(String line) {
        return line.replaceAll("\\s+#.*", "")
                .replaceAll("[\\[\\]…]", "")
                .replaceAll("\\b(BYTES|N)\\b", "1")
                .replaceFirst("\\S*djlplan\\s*", "")
                .lines()
                .flatMap(words -> Stream.of(words.split("\\s+", -1)))
                .filter(word -> !word.isEmpty())
                .toList();
    }

    @Test
    void benchmarks_namedInCommands_exist() throws IOException {
        List<String> missing = new ArrayList<>();
        int found = 0;
        try (Stream<Path> files = Files.walk(Markdown.ROOT.resolve("docs"))) {
            for (Path file : files.filter(f -> f.toString().matches(".*\\.(md|txt)")).toList()) {
                Matcher test = TEST_CLASS.matcher(Files.readString(file));
                while (test.find()) {
                    for (String name : test.group(1).replaceAll("#[\\w+]*", "").split(",", -1)) {
                        found++;
                        if (!name.equals("CLASS") && !Sources.testClasses().contains(name)) {
                            missing.add(file + ": " + name);
                        }
                    }
                }
            }
        }
        assertEquals(List.of(), missing);
        assertTrue(found > 15, "only " + found + " commands were found");
    }

    @Test
    void architecture_packages_equalTheSources() throws IOException {
        Pattern row =
                Pattern.compile("(?m)^\\| (`(?:memplan|delegation|cli|study|ai)\\b[^|]*) \\|");
        Set<String> told = new TreeSet<>();
        Matcher found = row.matcher(Markdown.read(ARCHITECTURE).text());
        while (found.find()) {
            for (String quoted : found.group(1).split(", ", -1)) {
                String name = quoted.replace("`", "");
                told.add(name.startsWith("ai.") ? name : "org.djlplan." + name);
            }
        }
        assertEquals(new TreeSet<>(Sources.packages()), told);
    }

    /** More types than these are too many to open in order to follow one thing. */
    @ParameterizedTest
    @ValueSource(strings = {"TfLiteReader", "MeasuredDelegation"})
    void architecture_journeyFromType_namesAtMostTwentyTypes(String start) throws IOException {
        Block drawing =
                Markdown.read(ARCHITECTURE).blocks("").stream()
                        .filter(block -> block.code().strip().startsWith(start))
                        .findFirst()
                        .orElseThrow();
        Set<String> types = new TreeSet<>(List.of(drawing.code().split("\\W+", -1)));
        types.retainAll(Sources.classes());
        assertTrue(types.size() > 10 && types.size() <= 20, types.size() + " types: " + types);
    }

    @Test
    void architecture_classes_exist() throws IOException {
        Markdown document = Markdown.read(ARCHITECTURE);
        // In drawings every word with two capitals is the name of a class.
        Pattern drawn = Pattern.compile("\\b([A-Z][a-z]\\w*[a-z][A-Z]\\w*)\\b");
        Set<String> names = new TreeSet<>();
        for (Block block : document.blocks("")) {
            drawn.matcher(block.code()).results().forEach(name -> names.add(name.group(1)));
        }
        document.inlineCode().stream()
                .filter(code -> code.matches("([A-Z][a-z]\\w*)(\\.[A-Z]\\w*)*"))
                .forEach(names::add);
        Set<String> unknown = new TreeSet<>();
        for (String name : names) {
            if (!Sources.classes().contains(name.replaceFirst("\\..*", ""))) {
                unknown.add(name);
            }
        }
        assertEquals(Set.of(), unknown);
        assertTrue(names.size() > 40, "only " + names + " were found");
    }
}
