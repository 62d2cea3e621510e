package org.djlplan.integration.nativecode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks that the files of the native library use one another in one direction. */
class NativeStructureTest {

    private static final Path LIBRARY = Path.of("../djl-memplan/src/main/native");

    /** The first line of a function or of a variable, whose names begin with the library's. */
    private static final Pattern DEFINED =
            Pattern.compile(
                    "(?m)^(?!extern)[A-Za-z_].*?\\b(djlplan_\\w+)(?:\\([^;]*?\\) \\{|;| = |\\[)");

    private static final Pattern USED = Pattern.compile("\\bdjlplan_\\w+");

    @Test
    void files_useOneAnotherInOneDirection() throws IOException {
        Map<String, String> texts = new TreeMap<>();
        try (Stream<Path> files = Files.list(LIBRARY)) {
            for (Path file : files.filter(f -> f.toString().endsWith(".c")).toList()) {
                String text = Files.readString(file).replaceAll("(?s)/\\*.*?\\*/", "");
                texts.put(file.getFileName().toString(), text);
            }
        }
        Map<String, String> definedIn = new HashMap<>();
        texts.forEach((file, text) -> names(DEFINED, text).forEach(n -> definedIn.put(n, file)));
        Map<String, Set<String>> uses = new TreeMap<>();
        texts.forEach(
                (file, text) -> {
                    Set<String> used = new TreeSet<>();
                    for (String name : names(USED, text)) {
                        if (definedIn.containsKey(name)) {
                            used.add(definedIn.get(name));
                        }
                    }
                    used.remove(file);
                    uses.put(file, used);
                });
        assertTrue(uses.get("tflite_session.c").contains("tflite_prepare.c"), uses.toString());
        assertTrue(uses.get("torch.c").contains("run.c"), uses.toString());
        List<String> circles = new ArrayList<>();
        for (String file : uses.keySet()) {
            Set<String> reached = new TreeSet<>();
            reach(file, uses, reached);
            if (reached.contains(file)) {
                circles.add(file + " uses " + reached);
            }
        }
        assertEquals(List.of(), circles);
    }

    private static List<String> names(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(found -> last(found)).toList();
    }

    private static String last(MatchResult found) {
        return found.group(found.groupCount());
    }

    private static void reach(String file, Map<String, Set<String>> uses, Set<String> reached) {
        for (String used : uses.get(file)) {
            if (reached.add(used)) {
                reach(used, uses, reached);
            }
        }
    }
}
