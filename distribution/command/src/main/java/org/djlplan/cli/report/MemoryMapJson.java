package org.djlplan.cli.report;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.djlplan.cli.report.MemoryMap.Layout;
import org.djlplan.cli.report.MemoryMap.Owner;
import org.djlplan.cli.report.MemoryMap.Span;
import org.djlplan.cli.report.MemoryMap.Strategy;
import org.djlplan.cli.report.MemoryMap.Tensor;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/** Writes and reads a memory map as the part {@code plan} of a report. */
final class MemoryMapJson {

    static final String PART = "plan";

    private static final int MOST_STEPS = 4_000_000;
    private static final int MOST_TENSORS = 1_000_000;
    private static final int MOST_STRATEGIES = 1000;
    private static final int MOST_DIMENSIONS = 100;

    /** The largest number of offsets, in all strategies together, that a page can hold. */
    private static final int MOST_OFFSETS = 400_000;

    private MemoryMapJson() {}

    /**
     * Returns a map as JSON; if there are very many tensors, only the best strategies have offsets.
     */
    static JsonObject write(MemoryMap map) {
        JsonObject json = new JsonObject();
        json.add("operators", texts(map.operators()));
        if (!map.stepNumbers().isEmpty()) {
            json.add("stepNumbers", numbers(map.stepNumbers()));
        }
        json.add("tensors", array(map.tensors(), MemoryMapJson::tensor));
        json.add("breadthBytes", numbers(map.breadthBytes()));
        json.addProperty("naiveBytes", map.naiveBytes());
        json.addProperty("lowerBoundBytes", map.lowerBoundBytes());
        json.addProperty("aliasedLowerBoundBytes", map.aliasedLowerBoundBytes());
        json.addProperty("sharedObjectsLowerBoundBytes", map.sharedObjectsLowerBoundBytes());
        json.add(
                "strategies",
                array(
                        ShownStrategies.of(map, MOST_OFFSETS),
                        each -> strategy(each, map.tensors().size())));
        json.addProperty("best", map.best());
        return json;
    }

    private static JsonObject tensor(Tensor tensor) {
        JsonObject json = new JsonObject();
        json.addProperty("name", tensor.name());
        tensor.shape().ifPresent(shape -> json.add("shape", numbers(shape)));
        tensor.type().ifPresent(type -> json.addProperty("type", type));
        json.addProperty("bytes", tensor.bytes());
        json.addProperty("first", tensor.first());
        json.addProperty("last", tensor.last());
        tensor.producer().ifPresent(step -> json.addProperty("producer", step));
        if (!tensor.consumers().isEmpty()) {
            json.add("consumers", numbers(tensor.consumers()));
        }
        json.addProperty("owner", label(tensor.owner()));
        tensor.alias().ifPresent(index -> json.addProperty("alias", index));
        return json;
    }

    private static JsonObject strategy(Strategy strategy, int tensors) {
        JsonObject json = new JsonObject();
        json.addProperty("name", strategy.name());
        json.addProperty("layout", label(strategy.layout()));
        json.addProperty("totalBytes", strategy.totalBytes());
        json.addProperty("millis", strategy.millis());
        json.addProperty("valid", strategy.valid());
        json.addProperty("provedMinimal", strategy.provedMinimal());
        strategy.offsets().ifPresent(offsets -> json.add("offsets", perTensor(offsets, tensors)));
        if (!strategy.objects().isEmpty()) {
            json.add(
                    "objects",
                    array(
                            strategy.objects(),
                            span -> {
                                JsonObject object = new JsonObject();
                                object.addProperty("offset", span.offsetBytes());
                                object.addProperty("bytes", span.bytes());
                                return object;
                            }));
        }
        return json;
    }

    private static JsonArray perTensor(Map<Integer, ? extends Number> values, int tensors) {
        JsonArray array = new JsonArray(tensors);
        for (int i = 0; i < tensors; i++) {
            array.add(values.get(i));
        }
        return array;
    }

    private static JsonArray texts(List<String> texts) {
        JsonArray array = new JsonArray(texts.size());
        texts.forEach(array::add);
        return array;
    }

    private static JsonArray numbers(Collection<? extends Number> numbers) {
        JsonArray array = new JsonArray(numbers.size());
        numbers.forEach(array::add);
        return array;
    }

    private static <T> JsonArray array(List<T> list, Function<T, JsonElement> writer) {
        JsonArray array = new JsonArray(list.size());
        list.forEach(each -> array.add(writer.apply(each)));
        return array;
    }

    private static String label(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /**
     * Reads what {@link #write} writes.
     *
     * @throws ReportFormatException if the JSON is damaged
     */
    static MemoryMap read(Fields json) {
        List<String> operators = json.list("operators", MOST_STEPS, Fields::text);
        int steps = operators.size();
        List<Integer> stepNumbers =
                json.optional("stepNumbers").isEmpty()
                        ? List.of()
                        : json.list("stepNumbers", steps, MemoryMapJson::step);
        int count = json.list("tensors", MOST_TENSORS, (where, each) -> each).size();
        List<Tensor> tensors =
                json.list(
                        "tensors",
                        MOST_TENSORS,
                        (where, each) -> readTensor(Fields.of(where, each), steps, count));
        try {
            return new MemoryMap(
                    operators,
                    stepNumbers,
                    tensors,
                    json.list("breadthBytes", steps, Fields::count),
                    json.count("naiveBytes"),
                    json.count("lowerBoundBytes"),
                    json.count("aliasedLowerBoundBytes"),
                    json.count("sharedObjectsLowerBoundBytes"),
                    json.list(
                            "strategies",
                            MOST_STRATEGIES,
                            (where, each) -> readStrategy(Fields.of(where, each), count)),
                    json.text("best"));
        } catch (ReportFormatException e) {
            throw e;
        } catch (IllegalArgumentException e) {
            throw new ReportFormatException(PART, "is inconsistent: " + e.getMessage());
        }
    }

    private static int step(String where, JsonElement each) {
        return Fields.index(where, each, Integer.MAX_VALUE);
    }

    private static Tensor readTensor(Fields json, int steps, int tensors) {
        int last = json.index("last", steps);
        Optional<List<Integer>> shape =
                json.optional("shape")
                        .map(
                                present ->
                                        json.list(
                                                "shape",
                                                MOST_DIMENSIONS,
                                                MemoryMapJson::dimension));
        return new Tensor(
                json.text("name"),
                shape,
                json.optionalText("type"),
                json.count("bytes"),
                json.index("first", last + 1),
                last,
                json.optionalIndex("producer", steps),
                json.optional("consumers").isEmpty()
                        ? List.of()
                        : json.list(
                                "consumers",
                                steps,
                                (where, each) -> Fields.index(where, each, steps)),
                one(json, "owner", Owner.values()),
                json.optionalIndex("alias", tensors));
    }

    /** A dimension that is unknown until run time is −1. */
    private static int dimension(String where, JsonElement each) {
        return each.toString().equals("-1") ? -1 : Fields.index(where, each, Integer.MAX_VALUE);
    }

    private static <E extends Enum<E>> E one(Fields json, String name, E[] values) {
        String text = json.text(name);
        for (E value : values) {
            if (label(value).equals(text)) {
                return value;
            }
        }
        throw new ReportFormatException(name, "is '" + shortened(text) + "'");
    }

    private static String shortened(String text) {
        return text.length() > 40 ? text.substring(0, 40) + "…" : text;
    }

    private static Strategy readStrategy(Fields json, int tensors) {
        return new Strategy(
                json.text("name"),
                one(json, "layout", Layout.values()),
                json.count("totalBytes"),
                json.amount("millis"),
                json.bool("valid"),
                json.bool("provedMinimal"),
                json.optional("offsets").map(present -> perTensor(json, "offsets", tensors)),
                json.optional("objects").isEmpty()
                        ? List.of()
                        : json.list("objects", tensors, MemoryMapJson::readSpan));
    }

    private static Span readSpan(String where, JsonElement element) {
        Fields json = Fields.of(where, element);
        return new Span(json.count("offset"), json.count("bytes"));
    }

    /** Returns the values that are not null, by their index. */
    private static Map<Integer, Long> perTensor(Fields json, String name, int tensors) {
        List<Optional<Long>> values =
                new ArrayList<>(
                        json.list(
                                name,
                                tensors,
                                (where, each) ->
                                        each.isJsonNull()
                                                ? Optional.empty()
                                                : Optional.of(Fields.count(where, each))));
        ImmutableMap.Builder<Integer, Long> map = ImmutableMap.builder();
        for (int i = 0; i < values.size(); i++) {
            int index = i;
            values.get(i).ifPresent(value -> map.put(index, value));
        }
        return map.buildOrThrow();
    }
}
