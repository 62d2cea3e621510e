package org.djlplan.integration.documents;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A Markdown document of this project, divided into code blocks and the text around them.
 *
 * @param file the document's file
 * @param text all lines outside of code blocks
 * @param blocks the code blocks, which stand between lines of three backticks
 */
record Markdown(Path file, String text, List<Block> blocks) {

    /** The folder of the whole project, seen from the module that tests run in. */
    static final Path ROOT = Path.of("..");

    /** Programs to copy, each in a folder of its own. */
    static final Path EXAMPLES = ROOT.resolve("integration-tests/examples");

    private static final Pattern FENCE = Pattern.compile("^\\s*```(\\w*)\\s*$");
    private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.+)$");
    private static final Pattern INLINE_CODE = Pattern.compile("`([^`]+)`");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");

    /**
     * A block of code.
     *
     * @param language the text after the backticks, or nothing
     * @param line number of its first line in the document
     */
    record Block(String language, int line, String code) {}

    /** Returns all documents: in the root, below {@code docs}, and the examples' README. */
    static List<Markdown> all() throws IOException {
        List<Path> files = new ArrayList<>();
        for (Path folder : List.of(ROOT, ROOT.resolve("docs"))) {
            try (Stream<Path> found = Files.walk(folder, folder.equals(ROOT) ? 1 : 9)) {
                found.filter(file -> file.toString().endsWith(".md")).sorted().forEach(files::add);
            }
        }
        files.add(EXAMPLES.resolve("README.md"));
        List<Markdown> all = new ArrayList<>();
        for (Path file : files) {
            all.add(read(file));
        }
        return all;
    }

    /** Returns the document in a file of the project. */
    static Markdown read(Path file) throws IOException {
        StringBuilder text = new StringBuilder();
        List<Block> blocks = new ArrayList<>();
        StringBuilder code = new StringBuilder();
        String language = null;
        int first = 0;
        int number = 0;
        for (String line : Files.readAllLines(file)) {
            number++;
            var fence = FENCE.matcher(line);
            if (!fence.matches()) {
                (language == null ? text : code).append(line).append('\n');
            } else if (language == null) {
                language = fence.group(1);
                first = number + 1;
                code.setLength(0);
            } else {
                blocks.add(new Block(language, first, code.toString()));
                language = null;
            }
        }
        if (language != null) {
            throw new IOException(file + ": the block of line " + first + " does not end");
        }
        return new Markdown(file, text.toString(), List.copyOf(blocks));
    }

    /** Returns whether a document's code is compiled in a framework's module, or in these tests. */
    static boolean isOfPipelines(Markdown document) {
        return document.file().startsWith(ROOT.resolve("docs/pipelines")) || isOfText(document);
    }

    /**
     * Returns whether a document is the page about text, whose code comes from the Spring Boot
     * examples and these tests.
     */
    static boolean isOfText(Markdown document) {
        return document.file().equals(ROOT.resolve("docs/text.md"));
    }

    /** Returns the blocks of one language. */
    List<Block> blocks(String language) {
        return blocks.stream().filter(block -> block.language().equals(language)).toList();
    }

    /** Returns all inline code in single backticks. */
    List<String> inlineCode() {
        return matches(INLINE_CODE, text);
    }

    /** Returns the targets of links and pictures. */
    List<String> links() {
        return matches(LINK, INLINE_CODE.matcher(text).replaceAll(""));
    }

    /** Returns the anchors of its headings, as the usual viewers make them. */
    Set<String> anchors() {
        Set<String> anchors = new HashSet<>();
        for (String heading : matches(HEADING, text)) {
            anchors.add(
                    heading.toLowerCase(Locale.ROOT)
                            .strip()
                            .replaceAll("[^\\p{L}\\p{N}_ -]", "")
                            .replace(' ', '-'));
        }
        return anchors;
    }

    private static List<String> matches(Pattern pattern, String text) {
        return pattern.matcher(text).results().map((MatchResult found) -> found.group(1)).toList();
    }
}
