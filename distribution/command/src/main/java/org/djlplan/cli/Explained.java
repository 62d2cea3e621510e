package org.djlplan.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.djlplan.delegation.internal.DelegationOptions;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.json.Json;
import org.djlplan.study.delegation.Explanation;
import org.djlplan.study.delegation.Verdict;
import org.djlplan.study.delegation.XnnpackRules;
import org.djlplan.thirdparty.guava.collect.Maps;

/**
 * Says why each operator of a model is delegated or not, as text and as JSON.
 *
 * @param graph the model
 * @param verdicts on its operators, in the order of the file
 */
record Explained(Graph graph, List<Verdict> verdicts) {

    private static final int LONGEST_NAME = 48;

    /**
     * Returns the explanation of a table.
     *
     * @param graph of the measured model
     * @param facts that the measurements depend on, by name
     */
    static Explained of(Graph graph, Map<String, String> facts, ProfileTable table) {
        DelegationOptions options = options(facts);
        return new Explained(
                graph,
                Explanation.of(
                        graph,
                        table,
                        options.goal(),
                        options.tolerance(),
                        options.exclude().of(graph),
                        XnnpackRules.of(
                                facts.getOrDefault("delegate", ""),
                                facts.getOrDefault("native", ""),
                                graph)));
    }

    /** Returns the options that produce these facts. */
    static DelegationOptions options(Map<String, String> facts) {
        return DelegationOptions.parse(
                Maps.filterKeys(
                        KeyFacts.loads(facts),
                        key -> key.startsWith(PlanOptions.DELEGATION_PREFIX)));
    }

    /** Returns the number of operators with each kind of verdict, in one line. */
    private String summary() {
        Map<String, Long> kinds =
                verdicts.stream()
                        .collect(
                                Collectors.groupingBy(
                                        Verdict::kind, TreeMap::new, Collectors.counting()));
        return "%d operators: %s"
                .formatted(
                        verdicts.size(),
                        kinds.entrySet().stream()
                                .map(kind -> kind.getValue() + " " + kind.getKey())
                                .collect(Collectors.joining(", ")));
    }

    /** Returns the summary and the verdicts, with one line for operators of equal verdicts. */
    String text() {
        return summary() + "\n" + table().text();
    }

    private TextTable table() {
        TextTable rows = new TextTable(true, "operator", "type", "output", "");
        int first = 0;
        for (int i = 1; i <= verdicts.size(); i++) {
            if (i == verdicts.size() || !verdicts.get(i).equals(verdicts.get(first))) {
                row(rows, graph.operators().subList(first, i));
                first = i;
            }
        }
        return rows;
    }

    private void row(TextTable rows, List<Operator> run) {
        int first = run.get(0).index();
        boolean alone = run.size() == 1;
        rows.row(
                alone ? Integer.toString(first) : first + "–" + run.get(run.size() - 1).index(),
                types(run),
                alone ? shortened(name(run.get(0))) : "",
                text(verdicts.get(first)));
    }

    /** Returns a verdict with its reason. */
    static String text(Verdict verdict) {
        return verdict.reason().isEmpty()
                ? verdict.kind()
                : verdict.kind() + ": " + verdict.reason();
    }

    private static String types(List<Operator> run) {
        String type = run.get(0).type();
        boolean same = run.stream().allMatch(operator -> operator.type().equals(type));
        return run.size() == 1 ? type : run.size() + (same ? " × " + type : " operators");
    }

    private String name(Operator operator) {
        return operator.outputs().isEmpty()
                ? ""
                : graph.tensors().get(operator.outputs().get(0)).name();
    }

    private static String shortened(String name) {
        return name.length() <= LONGEST_NAME ? name : name.substring(0, LONGEST_NAME - 1) + "…";
    }

    /** Returns all verdicts. */
    JsonArray json() {
        JsonArray operators = new JsonArray();
        for (Operator operator : graph.operators()) {
            Verdict verdict = verdicts.get(operator.index());
            JsonObject json = new JsonObject();
            json.addProperty("operator", operator.index());
            json.addProperty("type", operator.type());
            json.addProperty("output", name(operator));
            json.addProperty("delegated", verdict.isDelegated());
            json.addProperty("verdict", verdict.kind());
            json.addProperty("reason", verdict.reason());
            verdict.figures().forEach((name, figure) -> json.add(name, Json.tree(figure)));
            operators.add(json);
        }
        return operators;
    }
}
