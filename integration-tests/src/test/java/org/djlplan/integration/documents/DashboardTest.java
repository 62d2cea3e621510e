package org.djlplan.integration.documents;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

/** Checks that the Grafana dashboard shows the code's meters under their Prometheus names. */
class DashboardTest {

    private static final Path DASHBOARD = Markdown.ROOT.resolve("docs/grafana/djl-plan.json");

    private static final Pattern SHOWN = Pattern.compile("\\bdjlplan_\\w+");

    /** Code that makes a meter: its kind and its name. */
    private static final Pattern MADE =
            Pattern.compile(
                    "(Gauge\\.builder|FunctionCounter\\.builder|FunctionTimer\\.builder|gauge)"
                            + "\\(\\s*(?:registry,\\s*)?\"(djlplan[.a-z]+)\"");

    private static final List<String> LABELS =
            List.of("job", "instance", "model", "id", "planned", "origin", "part", "cause");

    private static JsonObject dashboard() throws IOException {
        return JsonParser.parseString(Files.readString(DASHBOARD)).getAsJsonObject();
    }

    private static List<JsonObject> panels() throws IOException {
        return objects(dashboard().getAsJsonArray("panels"));
    }

    private static List<JsonObject> objects(JsonArray array) {
        return StreamSupport.stream(array.spliterator(), false)
                .map(JsonElement::getAsJsonObject)
                .toList();
    }

    /** Returns the queries of all panels. */
    private static List<String> queries() throws IOException {
        return panels().stream()
                .filter(panel -> panel.has("targets"))
                .flatMap(panel -> objects(panel.getAsJsonArray("targets")).stream())
                .map(target -> target.get("expr").getAsString())
                .toList();
    }

    /** Returns the names that Micrometer's registry for Prometheus gives to the code's meters. */
    private static Set<String> made() {
        Set<String> made = new TreeSet<>();
        for (String source : List.of("PlanMetrics", "PoolMetrics", "RowMetrics")) {
            String code = Sources.contents().get(source);
            for (MatchResult meter : MADE.matcher(code).results().toList()) {
                String name = meter.group(2).replace('.', '_');
                switch (meter.group(1)) {
                    case "FunctionCounter.builder" -> made.add(name + "_total");
                    case "FunctionTimer.builder" -> {
                        made.add(name + "_seconds_count");
                        made.add(name + "_seconds_sum");
                    }
                    default -> made.add(name);
                }
            }
        }
        return made;
    }

    @Test
    void meters_ofTheDashboard_equalTheCodes() throws IOException {
        Set<String> shown = new TreeSet<>();
        for (String query : queries()) {
            SHOWN.matcher(query).results().forEach(name -> shown.add(name.group()));
        }
        assertEquals(made(), shown);
        assertTrue(shown.size() > 15, "only " + shown + " were found");
    }

    @Test
    void variables_ofTheDashboard_askForMetersOfTheCode() throws IOException {
        String variables = dashboard().getAsJsonObject("templating").toString();
        List<String> named = SHOWN.matcher(variables).results().map(MatchResult::group).toList();
        assertTrue(made().containsAll(named) && !named.isEmpty(), named.toString());
    }

    @Test
    void labels_ofTheDashboard_equalTheMeters() throws IOException {
        Pattern label = Pattern.compile("(?:by \\(|, )(\\w+)(?=[,)])|(\\w+)=~?\"");
        for (String query : queries()) {
            label.matcher(query)
                    .results()
                    .map(found -> found.group(1) == null ? found.group(2) : found.group(1))
                    .forEach(name -> assertTrue(LABELS.contains(name), name + " in " + query));
        }
    }

    @Test
    void panels_ofTheDashboard_haveTheirOwnIdentifiers() throws IOException {
        Set<Integer> identifiers = new TreeSet<>();
        for (JsonObject panel : panels()) {
            assertTrue(identifiers.add(panel.get("id").getAsInt()), panel.toString());
        }
    }
}
