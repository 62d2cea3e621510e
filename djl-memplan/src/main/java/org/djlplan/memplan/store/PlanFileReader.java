package org.djlplan.memplan.store;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.primitives.ImmutableLongArray;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.MalformedJsonException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.PlanValidator;
import org.djlplan.memplan.plan.Violation;
import org.djlplan.memplan.source.block.CreatedArray;
import org.djlplan.memplan.source.block.LivenessTrace;
import org.djlplan.memplan.source.trace.Allocation;
import org.djlplan.memplan.source.trace.AllocationTrace;
import org.djlplan.memplan.usage.PlanningProblem;
import org.djlplan.memplan.usage.UsageRecords;

/**
 * Reads what {@link PlanFile} writes, part by part in that order. Nothing recurses, and no more is
 * kept in memory than a plan of the largest size needs, whatever the file contains.
 */
final class PlanFileReader {

    /** What a file turned out to be, unless it is damaged. */
    sealed interface Result permits Usable, OtherVersion {}

    /** A plan that is intact and valid. */
    record Usable(StoredPlan plan) implements Result {}

    /** A file that another version of this library wrote. */
    record OtherVersion(int version) implements Result {}

    private final JsonReader json;

    private PlanFileReader(JsonReader json) {
        this.json = json;
    }

    /**
     * Reads the file of a key.
     *
     * @throws IOException if it is damaged, invalid, or of another key
     * @throws RuntimeException if a part is of the wrong kind or size: thrown by the parser, or by
     *     the record that refuses it
     */
    static Result read(InputStream in, PlanKey key) throws IOException {
        // A decoder of one's own refuses what is not UTF-8.
        InputStreamReader text = new InputStreamReader(in, StandardCharsets.UTF_8.newDecoder());
        return new PlanFileReader(new JsonReader(text)).file(key);
    }

    private Result file(PlanKey key) throws IOException {
        json.beginObject();
        int version = expect("version").nextInt();
        if (version != PlanFile.VERSION) {
            return new OtherVersion(version);
        }
        expectKey(key);
        expect("plan");
        StoredPlan plan = plan();
        if (!expect("sha256").nextString().equals(PlanFile.sha256(PlanFile.planText(plan)))) {
            throw new IOException("the checksum is another");
        }
        json.endObject();
        if (json.peek() != JsonToken.END_DOCUMENT) {
            throw new MalformedJsonException("something follows the plan");
        }
        if (plan.allocations().isPresent()) {
            check(plan.allocations().get().plan());
        }
        return new Usable(plan);
    }

    /** Compares as it reads: the file may hold any number of facts. */
    private void expectKey(PlanKey key) throws IOException {
        expect("key").beginObject();
        boolean same = expect("model").nextString().equals(key.model());
        expect("facts").beginObject();
        for (Map.Entry<String, String> fact : key.facts().entrySet()) {
            same =
                    same
                            && json.hasNext()
                            && json.nextName().equals(fact.getKey())
                            && json.nextString().equals(fact.getValue());
        }
        if (!same || json.hasNext()) {
            throw new IOException("the plan of another key");
        }
        json.endObject();
        json.endObject();
    }

    private StoredPlan plan() throws IOException {
        Optional<LivenessTrace> liveness = Optional.empty();
        Optional<AllocationPlan> allocations = Optional.empty();
        json.beginObject();
        while (json.hasNext()) {
            String part = json.nextName();
            switch (part) {
                case "liveness" -> liveness = Optional.of(liveness());
                case "allocations" -> allocations = Optional.of(allocations());
                default -> throw new IOException("a plan with " + part);
            }
        }
        json.endObject();
        return new StoredPlan(liveness, allocations);
    }

    private LivenessTrace liveness() throws IOException {
        json.beginObject();
        List<String> dataTypes = new ArrayList<>();
        expect("dataTypes").beginArray();
        while (hasRoom(dataTypes.size(), PlanFile.MOST_ENTRIES)) {
            dataTypes.add(json.nextString());
        }
        json.endArray();
        ImmutableList.Builder<CreatedArray> arrays = ImmutableList.builder();
        List<ImmutableLongArray> shapes = new ArrayList<>();
        expect("shapes").beginArray();
        while (hasRoom(shapes.size(), PlanFile.MOST_ENTRIES)) {
            shapes.add(numbers(PlanFile.MOST_DIMENSIONS));
        }
        json.endArray();
        expect("closedAt");
        ImmutableLongArray closedAt = numbers(PlanFile.MOST_ENTRIES);
        json.endObject();
        for (int i = 0; i < sameSize(dataTypes.size(), shapes.size(), closedAt.length()); i++) {
            ArrayType type = new ArrayType(dataTypes.get(i), shapes.get(i).asList());
            arrays.add(new CreatedArray(type, time(closedAt.get(i))));
        }
        return new LivenessTrace(arrays.build());
    }

    private AllocationPlan allocations() throws IOException {
        json.beginObject();
        String strategy = expect("strategy").nextString();
        expect("bytes");
        ImmutableLongArray bytes = numbers(PlanFile.MOST_ENTRIES);
        expect("allocatedAt");
        ImmutableLongArray allocatedAt = numbers(PlanFile.MOST_ENTRIES);
        expect("freedAt");
        ImmutableLongArray freedAt = numbers(PlanFile.MOST_ENTRIES);
        expect("offset");
        ImmutableLongArray offset = numbers(PlanFile.MOST_ENTRIES);
        json.endObject();
        int count =
                sameSize(bytes.length(), allocatedAt.length(), freedAt.length(), offset.length());
        ImmutableList.Builder<Allocation> allocations = ImmutableList.builder();
        ImmutableMap.Builder<Integer, Long> offsets = ImmutableMap.builder();
        for (int i = 0; i < count; i++) {
            int begin = Math.toIntExact(allocatedAt.get(i));
            allocations.add(new Allocation(bytes.get(i), begin, time(freedAt.get(i))));
            if (offset.get(i) != PlanFile.NONE) {
                offsets.put(i, offset.get(i));
            }
        }
        AllocationTrace trace = new AllocationTrace(allocations.build());
        return new AllocationPlan(
                trace, new OffsetPlan(strategy, trace.problem(), offsets.buildOrThrow()));
    }

    /** Checks offsets as if the checksum were not there: whoever can write can make one. */
    private static void check(OffsetPlan plan) throws IOException {
        List<Violation> violations = PlanValidator.violations(plan, UsageRecords.ALIGNMENT_BYTES);
        if (!violations.isEmpty()) {
            Violation first = violations.get(0);
            throw new IOException(
                    first.describe(
                            first.tensors().stream().map(id -> "allocation " + id).toList()));
        }
        PlanningProblem problem = plan.problem();
        if (plan.totalBytes() > UsageRecords.naiveBytes(problem.records())) {
            throw new IOException("an arena of " + plan.totalBytes() + " bytes, more than naive");
        }
    }

    private JsonReader expect(String name) throws IOException {
        String found = json.nextName();
        if (!found.equals(name)) {
            throw new IOException(found + " in place of " + name);
        }
        return json;
    }

    private ImmutableLongArray numbers(int most) throws IOException {
        ImmutableLongArray.Builder numbers = ImmutableLongArray.builder();
        int count = 0;
        json.beginArray();
        while (hasRoom(count, most)) {
            numbers.add(json.nextLong());
            count++;
        }
        json.endArray();
        return numbers.build();
    }

    private boolean hasRoom(int count, int most) throws IOException {
        if (!json.hasNext()) {
            return false;
        }
        if (count == most) {
            throw new IOException("more than " + count + " entries");
        }
        return true;
    }

    private static OptionalInt time(long number) {
        return number == PlanFile.NONE
                ? OptionalInt.empty()
                : OptionalInt.of(Math.toIntExact(number));
    }

    private static int sameSize(int size, int... others) throws IOException {
        for (int other : others) {
            if (other != size) {
                throw new IOException("parallel arrays of " + size + " and " + other);
            }
        }
        return size;
    }
}
