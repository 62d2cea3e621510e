package org.djlplan.cli.report;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.djlplan.cli.report.MemoryMap.Strategy;
import org.djlplan.cli.report.MemoryMap.Tensor;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * Writes the memory map of the best plan in Chrome's trace event format, which Perfetto and {@code
 * chrome://tracing} show. A step is a microsecond: operators are slices, the live bytes are a
 * counter, and tensors are asynchronous slices, with one lane per address.
 */
public final class ChromeTrace {

    /**
     * At one moment, events that end a slice come before those that begin one, and must be in
     * exactly this order. Names of the process and its thread come first.
     */
    private static final String ORDER = "MeCXb";

    private final MemoryMap map;
    private final Strategy plan;
    private final List<Map<String, Object>> events = new ArrayList<>();

    private ChromeTrace(Report report) {
        map = report.plan();
        plan = map.bestStrategy();
    }

    /** Returns the trace. */
    public static JsonObject of(Report report) {
        return new ChromeTrace(report).trace(report);
    }

    private JsonObject trace(Report report) {
        String model = report.model().name();
        // Readers leave out a process without a name.
        String process = model.isEmpty() ? "a model" : model;
        event("M", "process_name", 0, Map.of("args", Map.of("name", process)));
        event("M", "thread_name", 0, Map.of("args", Map.of("name", "operators")));
        operators();
        counters();
        tensors();
        events.sort(
                Comparator.comparingLong((Map<String, Object> event) -> (long) event.get("ts"))
                        .thenComparingInt(event -> ORDER.indexOf((String) event.get("ph"))));
        Map<String, ?> other =
                ImmutableMap.of(
                        "djlPlan",
                        report.djlPlan(),
                        "model",
                        model,
                        "strategy",
                        plan.name(),
                        "time",
                        "a microsecond is a step");
        // With "ns", chrome://tracing warns of a clock of low resolution.
        Map<String, ?> trace =
                ImmutableMap.of("traceEvents", events, "displayTimeUnit", "ms", "otherData", other);
        return new Gson().toJsonTree(trace).getAsJsonObject();
    }

    private void event(String phase, String name, long microseconds, Map<String, ?> more) {
        events.add(
                ImmutableMap.<String, Object>builder()
                        .put("name", name)
                        .put("ph", phase)
                        .put("ts", microseconds)
                        .put("pid", 1)
                        .put("tid", 1)
                        .putAll(more)
                        .buildOrThrow());
    }

    private void operators() {
        for (int step = 0; step < map.operators().size(); step++) {
            String type = map.operators().get(step);
            if (!type.isEmpty()) {
                Map<String, ?> args = Map.of("operator", step);
                event("X", type, step, Map.of("cat", "operator", "dur", 1, "args", args));
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
        event("C", name, at, Map.of("args", Map.of("bytes", bytes)));
    }

    private void tensors() {
        Map<Integer, Long> places = plan.places();
        List<Integer> indices = new ArrayList<>(places.keySet());
        indices.sort(Comparator.comparingInt(index -> map.tensors().get(index).first()));
        Map<Long, List<Integer>> endsAt = new HashMap<>();
        for (int index : indices) {
            long offset = places.get(index);
            Tensor tensor = map.tensors().get(index);
            List<Integer> ends = endsAt.computeIfAbsent(offset, key -> new ArrayList<>());
            String lane = "0x" + Long.toHexString(offset) + "." + freeLane(ends, tensor);
            String name = tensor.name().isEmpty() ? "tensor " + index : tensor.name();
            ImmutableMap.Builder<String, Object> facts = ImmutableMap.builder();
            facts.put("bytes", tensor.bytes()).put("offset", offset);
            tensor.shape().ifPresent(shape -> facts.put("shape", shape.toString()));
            tensor.type().ifPresent(type -> facts.put("type", type));
            Map<String, Object> track = Map.of("cat", "tensor", "id", lane);
            Map<String, Object> begin = new HashMap<>(track);
            begin.put("args", facts.buildOrThrow());
            event("b", name, tensor.first(), begin);
            event("e", name, tensor.last() + 1L, track);
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
}
