package org.djlplan.integration.documents;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Checks that the troubleshooting page has every warning that the code can log, and no other. */
class TroubleshootingTest {

    /** Messages that are computed, by the class that logs them. */
    private static final Map<String, String> COMPUTED =
            Map.of(
                    "PyTorchPlanning",
                    "… is not held inside its budget: …",
                    "TfLiteEngineProvider",
                    "remove ai.djl.tflite:tflite-engine from the class path: …",
                    "WeightBudget",
                    "…: a budget of … is too small: …");

    private static final Pattern LOGGED =
            Pattern.compile("\\blogger\\s*(?:\\.|::)(?:warn|error)\\b");

    private static final Pattern LITERAL = Pattern.compile("\"((?:[^\"\\\\]|\\\\.)*)\"");

    /** The first argument of a call, if it is a text. */
    private static final Pattern TEXT =
            Pattern.compile("\\(\\s*(" + LITERAL + "(?:\\s*\\+\\s*" + LITERAL + ")*)\\s*[,)]");

    private static final Pattern OTHER_LOGGERS =
            Pattern.compile("System\\.Logger|java\\.util\\.logging|\\.at(?:Warn|Error|Level)\\(");

    private static final Pattern LOGGER =
            Pattern.compile("(\\w+)\\s*=\\s*LoggerFactory\\.getLogger");

    /** The rows of tables whose first column has messages. */
    private static final Pattern SECTION =
            Pattern.compile("(?m)^\\| message \\|.*\\n\\|[ |-]+\\n((?:\\|.*\\n)+)");

    private static final Pattern ROW = Pattern.compile("(?m)^\\| `([^`]+)` \\| (.+) \\| (.+) \\|$");

    @Test
    void warnings_onThePage_equalTheCodes() throws IOException {
        TreeSet<String> computed = new TreeSet<>();
        TreeSet<String> logged = new TreeSet<>(COMPUTED.values());
        for (Map.Entry<String, String> source : Sources.contents().entrySet()) {
            Matcher call = LOGGED.matcher(source.getValue());
            while (call.find()) {
                Matcher text =
                        TEXT.matcher(source.getValue())
                                .region(call.end(), source.getValue().length());
                if (text.lookingAt() && !message(text.group(1)).equals("…")) {
                    logged.add(message(text.group(1)));
                } else {
                    assertTrue(computed.add(source.getKey()), "two computed: " + source.getKey());
                }
            }
        }
        assertEquals(new TreeSet<>(COMPUTED.keySet()), computed);
        assertEquals(logged, new TreeSet<>(rows().keySet()));
        assertTrue(logged.size() > 45, "only " + logged + " were found");
    }

    /** Returns the text of literals that are joined, with … for each argument. */
    private static String message(String literals) {
        StringBuilder text = new StringBuilder();
        LITERAL.matcher(literals).results().forEach(part -> text.append(part.group(1)));
        return text.toString().replace("{}", "…");
    }

    private static Map<String, String> rows() throws IOException {
        String page = Markdown.read(Markdown.ROOT.resolve("docs/troubleshooting.md")).text();
        Map<String, String> rows = new TreeMap<>();
        for (MatchResult section : SECTION.matcher(page).results().toList()) {
            for (String line : section.group(1).lines().toList()) {
                Matcher row = ROW.matcher(line);
                assertTrue(row.matches(), "not a message, what happened and what to do: " + line);
                assertTrue(rows.put(row.group(1), row.group(3)) == null, "twice: " + line);
            }
        }
        return rows;
    }

    @Test
    void loggers_inTheCode_areFoundByThisTest() {
        List<String> others = new ArrayList<>();
        Sources.contents()
                .forEach(
                        (name, code) -> {
                            if (OTHER_LOGGERS.matcher(code).find()
                                    || LOGGER.matcher(code)
                                            .results()
                                            .anyMatch(found -> !found.group(1).equals("logger"))) {
                                others.add(name);
                            }
                        });
        assertEquals(List.of(), others);
    }
}
