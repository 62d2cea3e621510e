package org.djlplan.cli.tune;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.djlplan.cli.TextTable;
import org.djlplan.cli.tune.Study.PartitionCost;
import org.djlplan.cli.tune.Study.SetTime;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.study.delegation.Correlation;
import org.djlplan.study.delegation.Correlation.Feature;
import org.djlplan.study.delegation.Piece;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** A study for people. */
final class StudyText {

    /** At most this many sets are listed, the fastest ones. */
    static final int LISTED = 64;

    private static final double MILLION = 1e6;

    private StudyText() {}

    /** Returns all of it. */
    static String of(Study study) {
        return heading(study)
                + "\n\npartitions\n"
                + partitions(study).text()
                + "\nwhich feature predicts the time saved (Spearman's rank correlation)\n"
                + correlations(study).text()
                + "\nsets, the fastest first"
                + (shown(study).size() < study.sets().size() ? " (" + LISTED + " of them)" : "")
                + "\n"
                + sets(study).text()
                + "\nTensorFlow Lite's own rule: the N partitions with most operators\n"
                + rule(study).text()
                + "\n"
                + String.join("\n", verdict(study))
                + "\n";
    }

    static String heading(Study study) {
        return Figures.format(
                "%s: %d operators, %d partitions, threads: %s",
                study.model(),
                study.operators(),
                study.partitions(),
                Figures.threads(study.threads()));
    }

    static TextTable partitions(Study study) {
        TextTable rows =
                new TextTable(
                        false,
                        "",
                        "operators",
                        "MFLOPs",
                        "weights",
                        "crossing",
                        "CPU",
                        "delegate",
                        "saved");
        for (PartitionCost cost : study.costs()) {
            Piece unit = cost.unit();
            rows.row(
                    Integer.toString(unit.partition() + 1),
                    Integer.toString(unit.operators().size()),
                    Figures.format("%.1f", unit.flops() / MILLION),
                    Figures.mebibytes(unit.weightBytes()),
                    Figures.kibibytes(unit.crossingBytes()),
                    Figures.millis(cost.cpuNanos()),
                    Figures.millis(cost.delegateNanos()),
                    Figures.millis(cost.savedNanos()));
        }
        return rows;
    }

    static TextTable correlations(Study study) {
        TextTable rows = new TextTable(true, "feature", "correlation", "");
        Optional<Feature> best = Correlation.best(study.correlations());
        study.correlations()
                .forEach(
                        (feature, correlation) ->
                                rows.row(
                                        name(feature),
                                        correlation.isPresent()
                                                ? Figures.format("%+.3f", correlation.getAsDouble())
                                                : "–",
                                        best.equals(Optional.of(feature)) ? "predicts best" : ""));
        return rows;
    }

    static String name(Feature feature) {
        return switch (feature) {
            case OPERATORS -> "operators";
            case FLOPS -> "FLOPs";
            case WEIGHT_BYTES -> "weight bytes";
            case CROSSING_BYTES -> "crossing bytes";
        };
    }

    private static ImmutableList<SetTime> shown(Study study) {
        ImmutableList.Builder<SetTime> shown = ImmutableList.builder();
        study.fastest().stream().limit(LISTED).forEach(shown::add);
        study.sets().stream().filter(set -> set.measured().isEmpty()).forEach(shown::add);
        return shown.build();
    }

    static TextTable sets(Study study) {
        TextTable rows =
                new TextTable(
                        true, "set", "operators", "kernels", "latency", "quartiles", "memory", "");
        for (SetTime set : shown(study)) {
            String operators = Integer.toString(set.entry().candidate().operators().size());
            if (set.entry() instanceof Entry.Measured it) {
                rows.row(
                        set.name(),
                        operators,
                        Integer.toString(it.kernels()),
                        Figures.millis(it.latency().medianNanos()),
                        Figures.format(
                                "%.3f–%.3f",
                                Figures.inMillis(it.latency().lowNanos()),
                                Figures.inMillis(it.latency().highNanos())),
                        Figures.memory(it.memoryBytes()),
                        notes(study, set));
            } else {
                rows.row(set.name(), operators, "", "", "", "", ProfileText.failure(set.entry()));
            }
        }
        return rows;
    }

    private static String notes(Study study, SetTime set) {
        List<String> notes = new ArrayList<>();
        if (study.usualChoice().equals(Optional.of(set))) {
            notes.add("chosen");
        }
        int first = study.rule().indexOf(set.partitions());
        if (first >= 0 && set.whole()) {
            notes.add("TFLite's first " + (first + 1));
        }
        return String.join(", ", notes);
    }

    static TextTable rule(Study study) {
        TextTable rows =
                new TextTable(false, "N", "set", "latency", "to ours", "to the best", "to CPU");
        for (int i = 0; i < study.rule().size(); i++) {
            Optional<SetTime> set = study.set(study.rule().get(i));
            rows.row(
                    Integer.toString(i + 1),
                    set.map(SetTime::name).orElse("–"),
                    set.flatMap(SetTime::medianNanos).map(Figures::millis).orElse("–"),
                    ratio(set, study.usualChoice()),
                    ratio(set, study.fastest().stream().findFirst()),
                    ratio(set, study.set(Set.of())));
        }
        return rows;
    }

    /** Returns the first time divided by the second. */
    private static String ratio(Optional<SetTime> first, Optional<SetTime> second) {
        Optional<Long> above = first.flatMap(SetTime::medianNanos);
        Optional<Long> below = second.flatMap(SetTime::medianNanos);
        return above.isPresent() && below.isPresent() && below.get() > 0
                ? Figures.format("%.3f", (double) above.get() / below.get())
                : "–";
    }

    /**
     * Returns the best set, the choice of the usual run, and the duration of both, one line each.
     */
    static ImmutableList<String> verdict(Study study) {
        ImmutableList.Builder<String> lines = ImmutableList.builder();
        study.fastest().stream()
                .findFirst()
                .ifPresent(best -> lines.add("best: %s, %s".formatted(best.name(), latency(best))));
        study.usualChoice()
                .ifPresent(
                        ours ->
                                lines.add(
                                        "chosen by a usual run: %s, %s, %s times the best"
                                                .formatted(
                                                        ours.name(),
                                                        latency(ours),
                                                        ratio(
                                                                Optional.of(ours),
                                                                study.fastest().stream()
                                                                        .findFirst()))));
        lines.add("its reason then: " + TextTable.plain(study.usual().reason()));
        lines.add(
                Figures.format(
                        "%d of %d sets measured in %s with %d inferences; a usual run takes %d in"
                                + " %s",
                        study.sets().size(),
                        study.wanted(),
                        Figures.seconds(study.nanos()),
                        study.inferences(),
                        study.usual().inferences(),
                        Figures.seconds(study.usual().nanos())));
        return lines.build();
    }

    private static String latency(SetTime set) {
        return set.medianNanos().map(Figures::millis).orElse("not measured");
    }
}
