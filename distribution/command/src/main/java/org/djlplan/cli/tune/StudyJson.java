package org.djlplan.cli.tune;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import java.util.Optional;
import java.util.OptionalDouble;
import org.djlplan.cli.tune.Study.PartitionCost;
import org.djlplan.cli.tune.Study.SetTime;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.study.delegation.Correlation;
import org.djlplan.study.delegation.Correlation.Feature;
import org.djlplan.study.delegation.Piece;

/** A study as JSON. Partitions are numbered from 1. */
final class StudyJson {

    private StudyJson() {}

    /** Returns all of it. */
    static JsonObject of(Study study) {
        JsonObject json = new JsonObject();
        json.addProperty("model", study.model());
        json.addProperty("operators", study.operators());
        json.addProperty("partitionCount", study.partitions());
        json.addProperty("threads", study.threads());
        JsonArray partitions = new JsonArray();
        study.costs().forEach(cost -> partitions.add(partition(cost)));
        json.add("partitions", partitions);
        json.add("correlations", correlations(study));
        json.addProperty(
                "bestFeature",
                Correlation.best(study.correlations()).map(Feature::name).orElse(""));
        JsonArray sets = new JsonArray();
        study.sets().forEach(set -> sets.add(set(set)));
        json.add("sets", sets);
        json.addProperty("wantedSets", study.wanted());
        JsonArray rule = new JsonArray();
        study.rule().forEach(set -> rule.add(orNull(study.set(set))));
        json.add("tfLiteFirstN", rule);
        json.add("best", orNull(study.fastest().stream().findFirst()));
        json.add("chosen", orNull(study.usualChoice()));
        json.addProperty("chosenReason", study.usual().reason());
        json.addProperty("chosenInferences", study.usual().inferences());
        json.addProperty("chosenSeconds", Figures.inSeconds(study.usual().nanos()));
        json.addProperty("inferences", study.inferences());
        json.addProperty("seconds", Figures.inSeconds(study.nanos()));
        return json;
    }

    private static JsonObject partition(PartitionCost cost) {
        Piece unit = cost.unit();
        JsonObject json = new JsonObject();
        json.addProperty("partition", unit.partition() + 1);
        for (Feature feature : Feature.values()) {
            json.addProperty(key(feature), feature.of(unit));
        }
        json.addProperty("cpuMillis", Figures.inMillis(cost.cpuNanos()));
        json.addProperty("delegateMillis", Figures.inMillis(cost.delegateNanos()));
        json.addProperty("savedMillis", Figures.inMillis(cost.savedNanos()));
        return json;
    }

    private static String key(Feature feature) {
        return switch (feature) {
            case OPERATORS -> "operators";
            case FLOPS -> "flops";
            case WEIGHT_BYTES -> "weightBytes";
            case CROSSING_BYTES -> "crossingBytes";
        };
    }

    private static JsonObject correlations(Study study) {
        JsonObject json = new JsonObject();
        study.correlations().forEach((feature, value) -> json.add(key(feature), number(value)));
        return json;
    }

    private static JsonElement number(OptionalDouble value) {
        return ProfileJson.number(value.orElse(Double.NaN));
    }

    private static JsonElement orNull(Optional<SetTime> set) {
        return set.<JsonElement>map(it -> set(it)).orElse(JsonNull.INSTANCE);
    }

    private static JsonObject set(SetTime set) {
        JsonObject json = new JsonObject();
        json.addProperty("set", set.name());
        JsonArray partitions = new JsonArray();
        set.partitions().stream().sorted().forEach(partition -> partitions.add(partition));
        json.add("partitions", partitions);
        json.addProperty("whole", set.whole());
        json.addProperty("operators", set.entry().candidate().operators().size());
        if (set.entry() instanceof Entry.Measured it) {
            json.addProperty("kernels", it.kernels());
            json.addProperty("medianMillis", Figures.inMillis(it.latency().medianNanos()));
            json.addProperty("lowMillis", Figures.inMillis(it.latency().lowNanos()));
            json.addProperty("highMillis", Figures.inMillis(it.latency().highNanos()));
            json.addProperty("samples", it.latency().samples());
            json.addProperty("memoryBytes", it.memoryBytes());
        } else {
            json.addProperty("failure", ProfileText.failure(set.entry()));
        }
        return json;
    }
}
