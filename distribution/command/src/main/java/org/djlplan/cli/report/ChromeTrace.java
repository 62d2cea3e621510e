package org.djlplan.cli.report;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.djlplan.cli.report.MemoryMap.Strategy;
import org.djlplan.cli.report.MemoryMap.Tensor;

/**
 * Writes the memory map of the best plan in Chrome's trace event format, which Perfetto and {@code
 * chrome://tracing} show. A step is a microsecond: operators are slices, the live bytes are a
 * counter, and tensors are asynchronous slices, with one lane per address.
 */
public final class ChromeTrace {

    private static final int PROCESS = 1;
    private static final int OPERATORS = 1;

    /**
     * At one moment, events that end a slice come before those that begin one, and must be in
     * exactly this order.
     */
    private static final Comparator<JsonObject> IN_TIME =
            Comparator.<JsonObject>comparingLong(event -> event.get("ts").getAsLong())
                    .thenComparingInt(
                            event -> "eCXb".indexOf(event.get("ph").getAsString().charAt(0)));

    private final MemoryMap map;
    private final Strategy plan;
    private final List<JsonObject> events = new ArrayList<>();

    private ChromeTrace(Report report) {
        map = report.plan();
        plan = map.bestStrategy();
    }

    /** Returns the trace. */
    public static JsonObject of(Report report) {
        return new ChromeTrace(report).trace(report);
    }

    private JsonObject trace(Report report) {
        operators();
        counters();
        tensors();
        events.sort(IN_TIME);
        JsonArray all = new JsonArray();
        String model = report.model().name();
        // Readers leave out a process without a name.
        all.add(name("process_name", model.isEmpty() ? "a model" : model));
        all.add(name("thread_name", "operators"));
        events.forEach(all::add);
        JsonObject trace = new JsonObject();
        trace.add("traceEvents", all);
        // With "ns", chrome://tracing warns of a clock of low resolution.
        trace.addProperty("displayTimeUnit", "ms");
        JsonObject other = new JsonObject();
        other.addProperty("djlPlan", report.djlPlan());
        other.addProperty("model", report.model().name());
        other.addProperty("strategy", plan.name());
        other.addProperty("time", "a microsecond is a step");
        trace.add("otherData", other);
        return trace;
    }

    private static JsonObject name(String what, String name) {
        JsonObject event = event(what, "M", 0);
        event.add("args", new JsonObject());
        event.getAsJsonObject("args").addProperty("name", name);
        return event;
    }

    private static JsonObject event(String name, String phase, long microseconds) {
        JsonObject event = new JsonObject();
        event.addProperty("name", name);
        event.addProperty("ph", phase);
        event.addProperty("ts", microseconds);
        event.addProperty("pid", PROCESS);
        event.addProperty("tid", OPERATORS);
        return event;
    }

    private void operators() {
        for (int step = 0; step < map.operators().size(); step++) {
            String type = map.operators().get(step);
            if (!type.isEmpty()) {
                JsonObject slice = event(type, "X", step);
                slice.addProperty("cat", "operator");
                slice.addProperty("dur", 1);
                slice.add("args", new JsonObject());
                slice.getAsJsonObject("args").addProperty("operator", step);
                events.add(slice);
            }
        }
    }

    private void counters() {
        List<Long> breadths = map.breadthBytes();
        for (int step = 0; step < breadths.size(); step++) {
            counter("live bytes", step, breadths.get(step));
        }
        counter("live bytes", breadths.size(), 0);
        counter("arena", 0, plan.totalBytes());
        counter("arena", breadths.size(), plan.totalBytes());
    }

    private void counter(String name, long at, long bytes) {
        JsonObject counter = event(name, "C", at);
        counter.add("args", new JsonObject());
        counter.getAsJsonObject("args").addProperty("bytes", bytes);
        events.add(counter);
    }

    private void tensors() {
        List<Integer> indices = new ArrayList<>(plan.offsets().orElse(Map.of()).keySet());
        indices.sort(Comparator.comparingInt(index -> map.tensors().get(index).first()));
        Map<Long, List<Integer>> endsAt = new HashMap<>();
        for (int index : indices) {
            long offset = plan.offsets().orElseThrow().get(index);
            Tensor tensor = map.tensors().get(index);
            List<Integer> ends = endsAt.computeIfAbsent(offset, key -> new ArrayList<>());
            String lane = "0x" + Long.toHexString(offset) + "." + freeLane(ends, tensor);
            String name = tensor.name().isEmpty() ? "tensor " + index : tensor.name();
            JsonObject begin = asynchronous(name, "b", tensor.first(), lane);
            JsonObject facts = new JsonObject();
            facts.addProperty("bytes", tensor.bytes());
            facts.addProperty("offset", offset);
            tensor.shape().ifPresent(shape -> facts.addProperty("shape", shape.toString()));
            tensor.type().ifPresent(type -> facts.addProperty("type", type));
            begin.add("args", facts);
            events.add(begin);
            events.add(asynchronous(name, "e", tensor.last() + 1L, lane));
        }
    }

    /**
     * Takes the first free lane, because tensors that share a place overlap in time.
     *
     * @param ends the time at which each lane at this address becomes free
     */
    private static int freeLane(List<Integer> ends, Tensor tensor) {
        for (int lane = 0; lane < ends.size(); lane++) {
            if (ends.get(lane) <= tensor.first()) {
                ends.set(lane, tensor.last() + 1);
                return lane;
            }
        }
        ends.add(tensor.last() + 1);
        return ends.size() - 1;
    }

    private static JsonObject asynchronous(String name, String phase, long at, String lane) {
        JsonObject event = event(name, phase, at);
        event.addProperty("cat", "tensor");
        event.addProperty("id", lane);
        return event;
    }
}
