package org.djlplan.delegation.cli;

import com.google.common.base.CharMatcher;
import com.google.common.collect.ImmutableMap;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.djlplan.delegation.DelegationKey;
import org.djlplan.delegation.DelegationOptions;
import org.djlplan.delegation.explain.Explanation;
import org.djlplan.delegation.explain.Verdict;
import org.djlplan.delegation.explain.XnnpackRules;
import org.djlplan.delegation.table.ProfileTable;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;

/**
 * Why each operator is delegated or not, as people and programs read it.
 *
 * @param graph the model, its operators as in the file
 * @param verdicts on each of them
 */
record Explained(Graph graph, List<Verdict> verdicts) {

    private static final int LONGEST_NAME = 48;

    /** The options that facts of a key stand for. */
    private static final Map<String, DelegationKey> FACTS =
            ImmutableMap.of(
                    "objective", DelegationKey.OBJECTIVE,
                    "maxMemoryBytes", DelegationKey.MAX_MEMORY,
                    "tolerance", DelegationKey.TOLERANCE,
                    "exclude", DelegationKey.EXCLUDE);

    /**
     * Returns what a table tells; empty if it was measured in another order of operators than the
     * file's, where their numbers are others.
     *
     * @param facts what the measurements depend on, by name
     */
    static Optional<Explained> of(Graph graph, Map<String, String> facts, ProfileTable table) {
        if (facts.containsKey("order")) {
            return Optional.empty();
        }
        DelegationOptions options = options(facts);
        Set<Integer> excluded = options.exclude().of(graph, operator -> operator);
        return Optional.of(
                new Explained(
                        graph,
                        Explanation.of(
                                graph,
                                table,
                                options.goal(),
                                options.tolerance(),
                                excluded,
                                XnnpackRules.of(facts.getOrDefault("delegate", ""), graph))));
    }

    private static DelegationOptions options(Map<String, String> facts) {
        ImmutableMap.Builder<String, String> options = ImmutableMap.builder();
        FACTS.forEach(
                (fact, key) -> {
                    if (facts.containsKey(fact)) {
                        options.put(key.key(), facts.get(fact));
                    }
                });
        return DelegationOptions.parse(options.buildOrThrow());
    }

    /** Returns how many operators have each kind of verdict, in one line. */
    String summary() {
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

    /**
     * Returns the verdicts.
     *
     * @param all whether consecutive operators with the same verdict have a line each
     */
    TextTable table(boolean all) {
        TextTable rows = new TextTable(true, "operator", "type", "output", "");
        int first = 0;
        for (int i = 1; i <= verdicts.size(); i++) {
            if (i == verdicts.size() || all || !verdicts.get(i).equals(verdicts.get(first))) {
                row(rows, first, i - 1);
                first = i;
            }
        }
        return rows;
    }

    private void row(TextTable rows, int first, int last) {
        Verdict verdict = verdicts.get(first);
        rows.row(
                first == last ? Integer.toString(first) : first + "–" + last,
                types(first, last),
                first == last ? shortened(name(graph.operators().get(first))) : "",
                verdict.reason().isEmpty()
                        ? verdict.kind()
                        : plain(verdict.kind() + ": " + verdict.reason()));
    }

    private String types(int first, int last) {
        String type = graph.operators().get(first).type();
        boolean same =
                graph.operators().subList(first, last + 1).stream()
                        .allMatch(operator -> operator.type().equals(type));
        int count = last - first + 1;
        return count == 1 ? plain(type) : count + (same ? " × " + plain(type) : " operators");
    }

    private String name(Operator operator) {
        return operator.outputs().isEmpty()
                ? ""
                : graph.tensors().get(operator.outputs().get(0)).name();
    }

    private static String shortened(String name) {
        String plain = plain(name);
        return plain.length() <= LONGEST_NAME ? plain : plain.substring(0, LONGEST_NAME - 1) + "…";
    }

    /** A file's names are not to steer a terminal. */
    private static String plain(String text) {
        return CharMatcher.javaIsoControl().replaceFrom(text, ' ');
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
            json.addProperty("delegated", verdict instanceof Verdict.Delegated);
            json.addProperty("verdict", verdict.kind());
            json.addProperty("reason", verdict.reason());
            if (verdict instanceof Verdict.NotWorth notWorth) {
                json.addProperty("slowerMillis", Figures.inMillis(notWorth.slowerNanos()));
                json.addProperty("moreBytes", notWorth.moreBytes());
            } else if (verdict instanceof Verdict.OutsideTolerance outside) {
                json.add("difference", ProfileJson.number(outside.difference()));
                json.addProperty("limit", outside.limit());
            }
            operators.add(json);
        }
        return operators;
    }
}
