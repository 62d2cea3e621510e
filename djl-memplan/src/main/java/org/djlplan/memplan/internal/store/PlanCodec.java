package org.djlplan.memplan.internal.store;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.ToLongFunction;
import java.util.regex.Pattern;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.PlanValidator;
import org.djlplan.memplan.internal.plan.Violation;
import org.djlplan.memplan.internal.source.block.LivenessTrace;
import org.djlplan.memplan.internal.source.trace.Allocation;
import org.djlplan.memplan.internal.source.trace.AllocationTrace;
import org.djlplan.memplan.internal.usage.UsageRecords;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/**
 * Reads and writes files of memory plans. The format, shown on several lines but written on one:
 *
 * <pre>{@code
 * {"liveness":{"dataTypes":["float32","float32"],"shapes":[[1,64,112,112],[]],"closedAt":[1,-1]},
 *  "allocations":{"strategy":"greedy-by-size","bytes":[3211264,0,4],
 *   "allocatedAt":[0,2,3],"freedAt":[1,-1,4],"offset":[0,-1,0]}}
 * }</pre>
 *
 * <p>Either part may be absent. Arrays of numbers have one element per entry. {@code -1} stands for
 * a missing value: an array that is not closed, an allocation that is not freed or not placed.
 */
public final class PlanCodec implements Codec<StoredPlan> {

    /** Limit of a plan's allocations, because validating takes quadratic time. */
    static final int MOST_ENTRIES = 1 << 16;

    private static final Pattern STRATEGY = Pattern.compile("[a-z0-9-]{1,64}");

    /** Limit of an array's dimensions. */
    private static final int MOST_DIMENSIONS = 64;

    /**
     * Every machine has this much memory, and asking the system takes longer than all other checks.
     */
    private static final long UNDOUBTED_BYTES = 16 << 20;

    /** Denotes a missing number. */
    private static final int NONE = -1;

    @Override
    public String kind() {
        return "plan";
    }

    @Override
    public int version() {
        return 3;
    }

    @Override
    public String ending() {
        return ".json";
    }

    @Override
    public void write(JsonWriter json, StoredPlan plan) throws IOException {
        json.beginObject();
        if (plan.liveness().isPresent()) {
            write(json.name("liveness"), plan.liveness().get());
        }
        if (plan.allocations().isPresent()) {
            write(json.name("allocations"), plan.allocations().get());
        }
        json.endObject();
    }

    private static void write(JsonWriter json, LivenessTrace liveness) throws IOException {
        List<LivenessTrace.Array> arrays = liveness.arrays();
        json.beginObject().name("dataTypes").beginArray();
        for (LivenessTrace.Array array : arrays) {
            json.value(array.type().dataType());
        }
        json.endArray().name("shapes").beginArray();
        for (LivenessTrace.Array array : arrays) {
            List<Long> shape = array.type().shape();
            checkArgument(shape.size() <= MOST_DIMENSIONS, "%s dimensions", shape.size());
            numbers(json, shape, dimension -> dimension);
        }
        json.endArray().name("closedAt");
        numbers(json, arrays, array -> array.closedAt().orElse(NONE));
        json.endObject();
    }

    private static void write(JsonWriter json, StoredPlan.Allocations planned) throws IOException {
        List<Allocation> allocations = planned.trace().allocations();
        Map<Integer, Long> offsets = planned.plan().unitOffsets();
        json.beginObject();
        json.name("strategy").value(planned.plan().strategy());
        json.name("bytes");
        numbers(json, allocations, Allocation::bytes);
        json.name("allocatedAt");
        numbers(json, allocations, Allocation::allocatedAt);
        json.name("freedAt");
        numbers(json, allocations, allocation -> allocation.freedAt().orElse(NONE));
        json.name("offset").beginArray();
        for (int i = 0; i < allocations.size(); i++) {
            json.value(offsets.getOrDefault(i, (long) NONE));
        }
        json.endArray().endObject();
    }

    @Override
    public StoredPlan read(CheckedJson json) throws IOException {
        Optional<LivenessTrace> liveness = Optional.empty();
        Optional<StoredPlan.Allocations> allocations = Optional.empty();
        json.beginObject();
        while (json.hasNext()) {
            String part = json.nextName();
            switch (part) {
                case "liveness" -> liveness = Optional.of(liveness(json));
                case "allocations" -> allocations = Optional.of(allocations(json));
                default -> throw new IOException("a plan with " + part);
            }
        }
        json.endObject();
        return new StoredPlan(liveness, allocations);
    }

    private static LivenessTrace liveness(CheckedJson json) throws IOException {
        json.beginObject();
        List<String> dataTypes = json.expect("dataTypes").list(MOST_ENTRIES, json::nextString);
        List<ImmutableLongArray> shapes =
                json.expect("shapes").list(MOST_ENTRIES, () -> json.numbers(MOST_DIMENSIONS));
        ImmutableLongArray closedAt = numbers(json, "closedAt");
        json.endObject();
        if (dataTypes.size() != shapes.size() || shapes.size() != closedAt.length()) {
            throw new IOException(
                    "parallel arrays of "
                            + dataTypes.size()
                            + ", "
                            + shapes.size()
                            + " and "
                            + closedAt.length());
        }
        ImmutableList.Builder<LivenessTrace.Array> arrays = ImmutableList.builder();
        for (int i = 0; i < dataTypes.size(); i++) {
            ArrayType type = new ArrayType(dataTypes.get(i), shapes.get(i).asList());
            arrays.add(new LivenessTrace.Array(type, time(closedAt.get(i))));
        }
        return new LivenessTrace(arrays.build());
    }

    private static StoredPlan.Allocations allocations(CheckedJson json) throws IOException {
        json.beginObject();
        String strategy = json.expect("strategy").nextString();
        ImmutableLongArray bytes = numbers(json, "bytes");
        ImmutableLongArray allocatedAt = numbers(json, "allocatedAt");
        ImmutableLongArray freedAt = numbers(json, "freedAt");
        ImmutableLongArray offset = numbers(json, "offset");
        json.endObject();
        int count = sameLength(bytes, allocatedAt, freedAt, offset);
        ImmutableList.Builder<Allocation> allocations = ImmutableList.builder();
        ImmutableMap.Builder<Integer, Long> offsets = ImmutableMap.builder();
        for (int i = 0; i < count; i++) {
            int begin = Math.toIntExact(allocatedAt.get(i));
            allocations.add(new Allocation(bytes.get(i), begin, time(freedAt.get(i))));
            if (offset.get(i) != NONE) {
                offsets.put(i, offset.get(i));
            }
        }
        AllocationTrace trace = new AllocationTrace(allocations.build());
        return new StoredPlan.Allocations(
                trace, new OffsetPlan(strategy, trace.problem(), offsets.buildOrThrow()));
    }

    /** Writes an array with a number for each element. */
    static <T> void numbers(JsonWriter json, List<T> of, ToLongFunction<T> number)
            throws IOException {
        checkArgument(of.size() <= MOST_ENTRIES, "%s entries", of.size());
        json.beginArray();
        for (T each : of) {
            json.value(number.applyAsLong(each));
        }
        json.endArray();
    }

    /** Reads an array of numbers. */
    static ImmutableLongArray numbers(CheckedJson json, String name) throws IOException {
        return json.expect(name).numbers(MOST_ENTRIES);
    }

    /** Returns the common length of all arrays. */
    static int sameLength(ImmutableLongArray... parallel) throws IOException {
        int length = parallel[0].length();
        for (ImmutableLongArray other : parallel) {
            if (other.length() != length) {
                throw new IOException("parallel arrays of " + length + " and " + other.length());
            }
        }
        return length;
    }

    @Override
    public void check(StoredPlan stored) throws IOException {
        if (stored.allocations().isEmpty()) {
            return;
        }
        OffsetPlan plan = stored.allocations().get().plan();
        checkValid(plan);
        if (plan.totalBytes() > UNDOUBTED_BYTES && plan.totalBytes() > memoryBytes()) {
            throw new IOException(
                    "an arena of " + plan.totalBytes() + " bytes, more than this machine has");
        }
    }

    /** Checks that a plan is valid and no larger than the naive layout. */
    private static void checkValid(OffsetPlan plan) throws IOException {
        if (!STRATEGY.matcher(plan.strategy()).matches()) {
            throw new IOException("a strategy of no such name");
        }
        List<Violation> violations = PlanValidator.violations(plan, UsageRecords.ALIGNMENT_BYTES);
        if (!violations.isEmpty()) {
            Violation first = violations.get(0);
            throw new IOException(
                    first.describe(
                            first.tensors().stream().map(id -> "allocation " + id).toList()));
        }
        if (plan.totalBytes() > UsageRecords.naiveBytes(plan.problem().records())) {
            throw new IOException("an arena of " + plan.totalBytes() + " bytes, more than naive");
        }
    }

    /** If the memory size cannot be read, nothing is too large. */
    private static long memoryBytes() {
        return new Machine().memoryBytes().orElse(Long.MAX_VALUE);
    }

    private static OptionalInt time(long number) {
        return number == NONE ? OptionalInt.empty() : OptionalInt.of(Math.toIntExact(number));
    }
}
