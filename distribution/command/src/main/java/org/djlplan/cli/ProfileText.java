package org.djlplan.cli;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.study.delegation.Pareto;
import org.djlplan.thirdparty.guava.base.Ascii;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/** Writes tables of measurements for people: one line per candidate, the fastest first. */
final class ProfileText {

    private final Graph graph;
    private final ProfileTable table;
    private final SetNames names;
    private final Set<Entry.Measured> front;
    private final boolean severalThreads;

    private ProfileText(Graph graph, ProfileTable table) {
        this.graph = graph;
        this.table = table;
        this.names = SetNames.of(graph, table.partitions());
        this.front = ImmutableSet.copyOf(Pareto.front(table));
        this.severalThreads =
                table.entries().stream().map(e -> e.candidate().threads()).distinct().count() > 1;
    }

    /**
     * Returns the table with a heading and the choice.
     *
     * @param facts that the measurements depend on, by name
     */
    static String of(Graph graph, Map<String, String> facts, ProfileTable table) {
        return new ProfileText(graph, table).text(facts);
    }

    private String text(Map<String, String> facts) {
        TextTable rows =
                new TextTable(
                        true,
                        "set",
                        severalThreads ? "threads" : "",
                        "operators",
                        "kernels",
                        "latency",
                        "quartiles",
                        "memory",
                        "error",
                        "");
        sorted(table.entries()).forEach(entry -> row(rows, entry));
        return heading(facts)
                + "\n"
                + (table.entries().isEmpty() ? "" : rows.text())
                + choice()
                + "\n";
    }

    private String heading(Map<String, String> facts) {
        StringBuilder heading = new StringBuilder(graph.name()).append(": ");
        if (graph.operators().isEmpty()) {
            heading.append(table.entries().size()).append(" candidates");
        } else {
            heading.append(graph.operators().size()).append(" operators, ");
            heading.append(table.partitions().size()).append(" partitions");
        }
        facts.entrySet().stream()
                .filter(fact -> KeyFacts.SHOWN.contains(fact.getKey()))
                .forEach(fact -> heading.append(", ").append(KeyFacts.text(fact)));
        return heading.toString();
    }

    private String choice() {
        return Figures.format(
                "chosen: %s\n%d inferences in %s",
                TextTable.plain(table.reason()),
                table.inferences(),
                Figures.seconds(table.nanos()));
    }

    /** Returns the candidates that ran, the fastest first, followed by those that did not. */
    static ImmutableList<Entry> sorted(List<Entry> entries) {
        return ImmutableList.sortedCopyOf(
                Comparator.comparingInt(ProfileText::rank)
                        .thenComparingLong(ProfileText::medianNanos),
                entries);
    }

    private static int rank(Entry entry) {
        return entry instanceof Entry.Measured ? 0 : entry instanceof Entry.Wrong ? 1 : 2;
    }

    private static long medianNanos(Entry entry) {
        return entry instanceof Entry.Measured measured ? measured.latency().medianNanos() : 0;
    }

    private void row(TextTable rows, Entry entry) {
        String set = names.name(entry.candidate());
        String threads = severalThreads ? Integer.toString(entry.candidate().threads()) : "";
        String operators = Integer.toString(entry.candidate().operators().size());
        if (entry instanceof Entry.Measured measured) {
            rows.row(
                    set,
                    threads,
                    operators,
                    Integer.toString(measured.kernels()),
                    Figures.millis(measured.latency().medianNanos()),
                    Figures.format(
                            "%.3f–%.3f",
                            Figures.inMillis(measured.latency().lowNanos()),
                            Figures.inMillis(measured.latency().highNanos())),
                    Figures.memory(measured.memoryBytes()),
                    Figures.error(measured.errors()),
                    notes(measured));
        } else {
            String error = entry instanceof Entry.Wrong wrong ? Figures.error(wrong.errors()) : "";
            rows.row(set, threads, operators, "", "", "", "", error, failure(entry));
        }
    }

    /** Returns the reason why a candidate cannot be used; an empty string if it can. */
    static String failure(Entry entry) {
        if (!(entry instanceof Entry.Failed failed)) {
            return entry instanceof Entry.Wrong ? "outputs differ: not used" : "";
        }
        String what = Ascii.toLowerCase(failed.kind().name()).replace('_', ' ');
        String first = TextTable.plain(failed.message().lines().findFirst().orElse("").strip());
        return first.isEmpty() ? what : what + ": " + first;
    }

    private String notes(Entry.Measured measured) {
        List<String> notes = new ArrayList<>();
        if (measured.candidate().equals(table.chosen())) {
            notes.add("chosen");
        }
        if (front.contains(measured)) {
            notes.add("Pareto front");
        }
        names.firstN(measured.candidate()).ifPresent(n -> notes.add("TFLite's first " + n));
        return String.join(", ", notes);
    }
}
