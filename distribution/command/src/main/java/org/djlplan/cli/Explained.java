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
 * @param lines the operators, in the order of the file
 */
record Explained(Graph graph, List<Line> lines) {

    private static final int LONGEST_NAME = 48;

    /**
     * One operator.
     *
     * @param operator of the graph
     * @param verdict on it
     */
    record Line(Operator operator, Verdict verdict) {}

    /**
     * Returns the explanation of a table.
     *
     * @param graph of the measured model
     * @param facts that the measurements depend on, by name
     */
    static Explained of(Graph graph, Map<String, String> facts, ProfileTable table) {
        DelegationOptions options = options(facts);
        List<Verdict> verdicts =
                Explanation.of(
                        graph,
                        table,
                        options.goal(),
                        options.tolerance(),
                        options.exclude().of(graph),
                        XnnpackRules.of(
                                facts.getOrDefault("delegate", ""),
                                facts.getOrDefault("native", ""),
                                graph));
        return new Explained(
                graph,
                graph.operators().stream()
                        .map(operator -> new Line(operator, verdicts.get(operator.index())))
                        .toList());
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
                lines.stream()
                        .collect(
                                Collectors.groupingBy(
                                        line -> line.verdict().kind(),
                                        TreeMap::new,
                                        Collectors.counting()));
        return "%d operators: %s"
                .formatted(
                        lines.size(),
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
        for (int i = 1; i <= lines.size(); i++) {
            boolean ends =
                    i == lines.size() || !lines.get(i).verdict().equals(lines.get(first).verdict());
            if (ends) {
                row(rows, lines.subList(first, i));
                first = i;
            }
        }
        return rows;
    }

    private void row(TextTable rows, List<Line> run) {
        Line first = run.get(0);
        Verdict verdict = first.verdict();
        boolean alone = run.size() == 1;
        int last = run.get(run.size() - 1).operator().index();
        rows.row(
                alone
                        ? Integer.toString(first.operator().index())
                        : first.operator().index() + "–" + last,
                types(run),
                alone ? shortened(name(first.operator())) : "",
                text(verdict));
    }

    /** Returns a verdict with its reason. */
    static String text(Verdict verdict) {
        return verdict.reason().isEmpty()
                ? verdict.kind()
                : verdict.kind() + ": " + verdict.reason();
    }

    private static String types(List<Line> run) {
        String type = run.get(0).operator().type();
        boolean same = run.stream().allMatch(line -> line.operator().type().equals(type));
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
        for (Line line : lines) {
            Verdict verdict = line.verdict();
            JsonObject json = new JsonObject();
            json.addProperty("operator", line.operator().index());
            json.addProperty("type", line.operator().type());
            json.addProperty("output", name(line.operator()));
            json.addProperty("delegated", verdict.isDelegated());
            json.addProperty("verdict", verdict.kind());
            json.addProperty("reason", verdict.reason());
            verdict.figures().forEach((name, figure) -> json.add(name, Json.tree(figure)));
            operators.add(json);
        }
        return operators;
    }
}
