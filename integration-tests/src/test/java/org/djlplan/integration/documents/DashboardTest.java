package org.djlplan.integration.documents;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.metrics.PlanMetrics;
import org.djlplan.memplan.metrics.PoolMetrics;
import org.djlplan.memplan.metrics.RowMetrics;
import org.djlplan.memplan.rows.RowPredictor;
import org.junit.jupiter.api.Test;

/** Checks that the Grafana dashboard shows the meters under the names that Prometheus gets. */
class DashboardTest {

    private static final Path DASHBOARD = Markdown.ROOT.resolve("docs/grafana/djl-plan.json");

    private static final Pattern SHOWN = Pattern.compile("\\bdjlplan_\\w+");

    private static final Pattern SAMPLE =
            Pattern.compile("^(djlplan_\\w+)(?:\\{(.*)})? ", Pattern.MULTILINE);

    private static final Pattern LABEL = Pattern.compile("(\\w+)=~?\"");

    /** Labels that Prometheus adds. */
    private static final Set<String> ADDED = Set.of("job", "instance");

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

    /**
     * Returns the samples of all meters, as Prometheus gets them, of a delegated model, one with a
     * budget, and the rows of a predictor: the labels by the name.
     */
    private static Map<String, Set<String>> samples() throws Exception {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        Path file = TestModels.built("chains");
        try (ZooModel<NDList, NDList> delegated =
                        Planned.load(file, Map.of("delegation.profile", "off"));
                ZooModel<NDList, NDList> budgeted =
                        Planned.load(file, Map.of("memplan.budget", "64MB"));
                RowPredictor<NDList, NDList> rows = new RowPredictor<>(delegated, 2, 1)) {
            new PoolMetrics().bindTo(registry);
            new PlanMetrics(delegated).bindTo(registry);
            new PlanMetrics(budgeted).bindTo(registry);
            new RowMetrics("rows", rows).bindTo(registry);
            Map<String, Set<String>> samples = new TreeMap<>();
            SAMPLE.matcher(registry.scrape())
                    .results()
                    .forEach(
                            sample -> {
                                Set<String> labels =
                                        samples.computeIfAbsent(
                                                sample.group(1), name -> new TreeSet<>());
                                String text = sample.group(2) == null ? "" : sample.group(2);
                                LABEL.matcher(text).results().forEach(l -> labels.add(l.group(1)));
                            });
            return samples;
        }
    }

    @Test
    void queries_ofTheDashboard_findEachMeterWithItsLabels() throws Exception {
        Map<String, Set<String>> samples = samples();
        Pattern metric = Pattern.compile("(djlplan_\\w+)\\{([^}]*)}");
        Pattern grouping = Pattern.compile("by \\(([^)]*)\\)");
        Set<String> shown = new TreeSet<>();
        for (String query : queries()) {
            for (MatchResult found : metric.matcher(query).results().toList()) {
                shown.add(found.group(1));
                Set<String> wanted = new TreeSet<>();
                LABEL.matcher(found.group(2)).results().forEach(l -> wanted.add(l.group(1)));
                grouping.matcher(query)
                        .results()
                        .forEach(by -> wanted.addAll(List.of(by.group(1).split(", "))));
                wanted.removeAll(ADDED);
                Set<String> labels = samples.getOrDefault(found.group(1), Set.of());
                assertTrue(labels.containsAll(wanted), labels + " for " + query);
            }
        }
        assertEquals(samples.keySet(), shown);
        assertTrue(shown.size() > 15, "only " + shown + " were found");
    }

    @Test
    void variables_ofTheDashboard_askForMetersOfTheCode() throws Exception {
        String variables = dashboard().getAsJsonObject("templating").toString();
        List<String> named = SHOWN.matcher(variables).results().map(MatchResult::group).toList();
        assertTrue(samples().keySet().containsAll(named) && !named.isEmpty(), named.toString());
    }

    @Test
    void panels_ofTheDashboard_haveTheirOwnIdentifiers() throws IOException {
        Set<Integer> identifiers = new TreeSet<>();
        for (JsonObject panel : panels()) {
            assertTrue(identifiers.add(panel.get("id").getAsInt()), panel.toString());
        }
    }
}
