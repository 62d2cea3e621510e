package org.djlplan.memplan.internal.measure;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.StreamSupport;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.OutputError.ByOperator;
import org.djlplan.memplan.spi.OutputError.Deviation;
import org.djlplan.memplan.spi.ShapeMix;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.Longs;

/**
 * The JSON messages between a {@link ProcessRunner} and its process. Parsing anything else throws a
 * RuntimeException.
 */
final class Messages {

    /** Changes when the messages change. */
    private static final int PROTOCOL = 8;

    /** A failure that no candidate caused: the model cannot be opened. */
    static final String NOT_OPENED = "NOT_OPENED";

    static final String PARTITIONS = "partitions";
    static final String PREPARE = "prepare";
    static final String TIME = "time";
    static final String TIME_EACH_SHAPE = "timeEachShape";
    static final String PROFILE = "profile";
    static final String RELEASE = "release";

    private static final String PROPERTIES = "properties";
    private static final String DELEGATE_CLASSES = "delegateClasses";

    private Messages() {}

    /** Returns the first message of a process. */
    static JsonElement hello() {
        return new JsonPrimitive(PROTOCOL);
    }

    /** Returns the first request: the model, and the data needed to open it. */
    static JsonObject open(ModelRequest model, List<Path> delegateClasses) {
        JsonObject request = model.toJson();
        JsonObject properties = new JsonObject();
        for (String name : MeasuringJvm.PROPERTIES) {
            String value = System.getProperty(name);
            if (value != null) {
                properties.addProperty(name, value);
            }
        }
        request.add(PROPERTIES, properties);
        request.add(
                DELEGATE_CLASSES,
                array(delegateClasses, place -> new JsonPrimitive(place.toString())));
        return request;
    }

    /** Returns the system properties in the first request. */
    static Map<String, String> properties(JsonObject request) {
        Map<String, String> properties = new TreeMap<>();
        request.getAsJsonObject(PROPERTIES)
                .entrySet()
                .forEach(e -> properties.put(e.getKey(), e.getValue().getAsString()));
        return properties;
    }

    /** Returns the class path of a custom delegate in the first request; empty if there is none. */
    static List<Path> delegateClasses(JsonObject request) {
        return list(request.get(DELEGATE_CLASSES), json -> Path.of(json.getAsString()));
    }

    static JsonObject request(String step) {
        JsonObject request = new JsonObject();
        request.addProperty("step", step);
        return request;
    }

    static JsonObject request(String step, Candidate candidate) {
        JsonObject request = request(step);
        request.addProperty("recipe", candidate.recipe());
        request.add("operators", numbers(candidate.operators()));
        request.addProperty("threads", candidate.threads());
        request.addProperty("transientBuffers", candidate.transientBuffers());
        return request;
    }

    static JsonObject request(String step, Candidate candidate, int inferences) {
        JsonObject request = request(step, candidate);
        request.addProperty("inferences", inferences);
        return request;
    }

    static Candidate candidate(JsonObject request) {
        return new Candidate(
                request.get("recipe").getAsString(),
                operators(request.get("operators")),
                request.get("threads").getAsInt(),
                request.get("transientBuffers").getAsBoolean());
    }

    static JsonObject toJson(Trial trial) {
        JsonObject json = new JsonObject();
        json.addProperty("partitions", trial.kernels());
        json.add("errors", array(trial.errors(), Messages::toJson));
        json.addProperty("memoryBytes", trial.memoryBytes());
        json.addProperty("inferences", trial.inferences());
        return json;
    }

    static Trial trial(JsonElement json) {
        JsonObject object = json.getAsJsonObject();
        return new Trial(
                object.get("partitions").getAsInt(),
                list(object.get("errors"), Messages::error),
                object.get("memoryBytes").getAsLong(),
                object.get("inferences").getAsInt());
    }

    private static JsonObject toJson(OutputError error) {
        JsonObject json = new JsonObject();
        json.addProperty("type", error.type().name());
        json.add("deviation", toJson(error.deviation()));
        json.add("noise", toJson(error.noise()));
        json.addProperty("headroom", Double.toString(error.headroom()));
        error.byOperator()
                .ifPresent(
                        worst -> {
                            json.addProperty("operator", worst.operator());
                            json.addProperty("share", Double.toString(worst.share()));
                        });
        return json;
    }

    private static JsonArray toJson(Deviation deviation) {
        // As strings, because JSON has no infinite numbers.
        return array(
                List.of(
                        Double.toString(deviation.largest()),
                        Double.toString(deviation.spread()),
                        Integer.toString(deviation.otherTops())),
                JsonPrimitive::new);
    }

    private static Deviation deviation(JsonElement json) {
        JsonArray parts = json.getAsJsonArray();
        return new Deviation(
                Double.parseDouble(parts.get(0).getAsString()),
                Double.parseDouble(parts.get(1).getAsString()),
                Integer.parseInt(parts.get(2).getAsString()));
    }

    private static OutputError error(JsonElement json) {
        JsonObject object = json.getAsJsonObject();
        return new OutputError(
                ElementType.valueOf(object.get("type").getAsString()),
                deviation(object.get("deviation")),
                deviation(object.get("noise")),
                Double.parseDouble(object.get("headroom").getAsString()),
                Optional.ofNullable(object.get("operator"))
                        .map(
                                operator ->
                                        new ByOperator(
                                                operator.getAsInt(),
                                                Double.parseDouble(
                                                        object.get("share").getAsString()))));
    }

    static JsonArray toJson(List<NodeTime> nodes) {
        return array(nodes, Messages::toJson);
    }

    private static JsonObject toJson(NodeTime node) {
        JsonObject json = new JsonObject();
        json.add("operators", numbers(node.operators()));
        json.addProperty("delegated", node.delegated());
        json.addProperty("nanos", node.nanos());
        return json;
    }

    static List<NodeTime> nodeTimes(JsonElement json) {
        return list(
                json,
                element -> {
                    JsonObject object = element.getAsJsonObject();
                    return new NodeTime(
                            operators(object.get("operators")),
                            object.get("delegated").getAsBoolean(),
                            object.get("nanos").getAsLong());
                });
    }

    static JsonArray partitionsToJson(List<Set<Integer>> partitions) {
        return array(partitions, Messages::numbers);
    }

    static List<Set<Integer>> partitions(JsonElement json) {
        return list(json, Messages::operators);
    }

    static JsonArray toJson(long[] nanos) {
        return array(Longs.asList(nanos), JsonPrimitive::new);
    }

    /**
     * @param inferences requested number
     */
    static long[] nanos(JsonElement json, int inferences) {
        long[] nanos = nanos(json);
        checkArgument(nanos.length == inferences, "%s times of %s", nanos.length, inferences);
        return nanos;
    }

    static long[] nanos(JsonElement json) {
        List<Long> nanos = list(json, JsonElement::getAsLong);
        checkArgument(nanos.stream().allMatch(time -> time >= 0), "negative times");
        return Longs.toArray(nanos);
    }

    static JsonObject toJson(ShapeMix mix) {
        JsonObject json = new JsonObject();
        json.add("shapes", array(mix.shapes(), inputs -> array(inputs, Messages::numbers)));
        json.addProperty("changes", mix.changes());
        return json;
    }

    static ShapeMix mix(JsonElement json) {
        JsonObject object = json.getAsJsonObject();
        return new ShapeMix(
                list(
                        object.get("shapes"),
                        inputs -> list(inputs, shape -> list(shape, JsonElement::getAsInt))),
                object.get("changes").getAsDouble());
    }

    private static JsonArray numbers(Collection<Integer> values) {
        return array(values, JsonPrimitive::new);
    }

    private static SortedSet<Integer> operators(JsonElement json) {
        return new TreeSet<>(list(json, JsonElement::getAsInt));
    }

    private static <T> JsonArray array(Collection<T> values, Function<T, JsonElement> toJson) {
        JsonArray array = new JsonArray(values.size());
        values.forEach(value -> array.add(toJson.apply(value)));
        return array;
    }

    private static <T> ImmutableList<T> list(JsonElement json, Function<JsonElement, T> fromJson) {
        return StreamSupport.stream(json.getAsJsonArray().spliterator(), false)
                .map(fromJson)
                .collect(ImmutableList.toImmutableList());
    }
}
