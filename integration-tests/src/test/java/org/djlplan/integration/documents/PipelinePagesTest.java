package org.djlplan.integration.documents;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.djlplan.integration.documents.Markdown.Block;
import org.junit.jupiter.api.Test;

/**
 * Checks that all code on the pages of frameworks is taken from the tests and examples that run
 * with {@code -Ppipelines,examples}.
 */
class PipelinePagesTest {

    private static final Path MODULES = Markdown.ROOT.resolve("integration-tests");

    private static String withoutSpaces(String text) {
        return text.replaceAll("\\s+", "");
    }

    /** Only the list of pages, and the page of a framework that could not be run, have no code. */
    private static boolean saysWhyThereIsNoCode(Markdown page) {
        return (page.text().contains("**Not run.**") || page.file().endsWith("README.md"))
                && page.blocks("java").isEmpty();
    }

    /** Returns the code of a framework's tests, and of the example with its name. */
    private static String sources(String framework) throws IOException {
        StringBuilder sources = new StringBuilder();
        for (String folder : List.of(framework, "examples/" + framework)) {
            Path source = MODULES.resolve(folder).resolve("src");
            if (Files.exists(source)) {
                sources.append(code(source));
            }
        }
        return withoutSpaces(sources.toString());
    }

    private static String code(Path folder) throws IOException {
        StringBuilder sources = new StringBuilder();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(each -> each.toString().endsWith(".java")).toList()) {
                sources.append(Files.readString(file));
            }
        }
        return sources.toString();
    }

    @Test
    void java_everyBlock_isInATestOfItsFramework() throws IOException {
        List<String> others = new ArrayList<>();
        int pages = 0;
        for (Markdown page : Markdown.all()) {
            if (!Markdown.isOfPipelines(page) || saysWhyThereIsNoCode(page)) {
                continue;
            }
            pages++;
            List<Block> blocks = page.blocks("java");
            assertTrue(!blocks.isEmpty(), page.file() + " has no code");
            String sources =
                    Markdown.isOfText(page)
                            ? sources("embedding")
                                    + sources("langchain4j")
                                    + sources("spring-ai")
                                    + sources(".")
                            : sources(
                                    page.file()
                                            .getFileName()
                                            .toString()
                                            .replaceFirst("\\.md$", ""));
            for (Block block : blocks) {
                if (!sources.contains(withoutSpaces(block.code()))) {
                    others.add(page.file() + ", line " + block.line());
                }
            }
        }
        assertEquals(List.of(), others);
        assertTrue(pages >= 6, "only " + pages + " pages were found");
    }
}
