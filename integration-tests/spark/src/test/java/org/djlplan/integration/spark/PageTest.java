package org.djlplan.integration.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Code that readers paste is the code that the tests run. */
@Tag("pipelines")
class PageTest {

    private static final Path ROOT = Path.of("../..");

    private static final Pattern BLOCK = Pattern.compile("(?s)```java\n(.*?)```");

    private static String withoutSpaces(String text) {
        return text.replaceAll("\\s+", "");
    }

    @Test
    void java_everyBlock_isInATestedSource() throws IOException {
        StringBuilder sources = new StringBuilder();
        try (Stream<Path> files = Files.walk(Path.of("src/test/java"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                sources.append(Files.readString(file));
            }
        }
        String page = Files.readString(ROOT.resolve("docs/pipelines/spark.md"));
        List<String> blocks = BLOCK.matcher(page).results().map(found -> found.group(1)).toList();

        List<String> others =
                blocks.stream()
                        .filter(
                                block ->
                                        !withoutSpaces(sources.toString())
                                                .contains(withoutSpaces(block)))
                        .toList();

        assertEquals(List.of(), others);
        assertTrue(blocks.size() >= 3, "only " + blocks.size() + " blocks were found");
    }
}
