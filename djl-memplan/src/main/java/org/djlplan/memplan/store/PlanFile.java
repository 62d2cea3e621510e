package org.djlplan.memplan.store;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.hash.Hashing;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.djlplan.memplan.source.block.CreatedArray;
import org.djlplan.memplan.source.block.LivenessTrace;
import org.djlplan.memplan.source.trace.Allocation;

/**
 * A plan as the text of a file. Shown here on several lines, written on one:
 *
 * <pre>{@code
 * {"version":1,
 *  "key":{"model":"resnet18","facts":{"engine":"PyTorch 2.1.1","input":"1x3x224x224:float32"}},
 *  "plan":{
 *   "liveness":{"dataTypes":["float32","float32"],"shapes":[[1,64,112,112],[]],"closedAt":[1,-1]},
 *   "allocations":{"strategy":"greedy-by-size",
 *    "bytes":[3211264,0,4],"allocatedAt":[0,2,3],"freedAt":[1,-1,4],"offset":[0,-1,0]}},
 *  "sha256":"…"}
 * }</pre>
 *
 * <p>Either part of the plan may be absent. Arrays of numbers are parallel. {@code -1} stands for
 * what does not exist: an array that is not closed, an allocation that is not freed or not placed.
 * The checksum is that of the plan's text as written by {@link #planText}, whatever spaces the file
 * has.
 */
final class PlanFile {

    static final int VERSION = 1;

    /** More than a plan of {@link #MOST_ENTRIES} takes; a larger file is not one of ours. */
    static final long MOST_BYTES = 16 << 20;

    /** Most arrays or allocations of a plan: checking it takes time quadratic in these. */
    static final int MOST_ENTRIES = 1 << 16;

    /** Most dimensions of an array. */
    static final int MOST_DIMENSIONS = 64;

    /** Stands for a number that does not exist. */
    static final int NONE = -1;

    private PlanFile() {}

    /** Returns the name of the file of a key: the model's, and a hash of all facts. */
    static String nameOf(PlanKey key) {
        StringBuilder identity = new StringBuilder(key.model());
        for (Map.Entry<String, String> fact : key.facts().entrySet()) {
            identity.append('\0').append(fact.getKey()).append('\0').append(fact.getValue());
        }
        return ReadableNames.of(key.model(), identity.toString()) + ".json";
    }

    /**
     * Returns the content of a file.
     *
     * @throws IllegalArgumentException if the plan is larger than one that would be read
     * @throws CharacterCodingException if a name is not valid Unicode
     */
    static byte[] toBytes(PlanKey key, StoredPlan plan) throws IOException {
        String planText = planText(plan);
        StringWriter text = new StringWriter();
        JsonWriter json = new JsonWriter(text);
        json.beginObject().name("version").value(VERSION);
        json.name("key").beginObject().name("model").value(key.model());
        json.name("facts").beginObject();
        for (Map.Entry<String, String> fact : key.facts().entrySet()) {
            json.name(fact.getKey()).value(fact.getValue());
        }
        json.endObject().endObject();
        json.name("plan").jsonValue(planText);
        json.name("sha256").value(sha256(planText)).endObject();
        byte[] bytes = utf8(text.append('\n').toString());
        checkArgument(bytes.length <= MOST_BYTES, "a plan of %s bytes of text", bytes.length);
        return bytes;
    }

    /** Returns the one text of a plan that is checksummed. */
    static String planText(StoredPlan plan) throws IOException {
        StringWriter text = new StringWriter();
        JsonWriter json = new JsonWriter(text);
        json.beginObject();
        if (plan.liveness().isPresent()) {
            write(json.name("liveness"), plan.liveness().get());
        }
        if (plan.allocations().isPresent()) {
            write(json.name("allocations"), plan.allocations().get());
        }
        json.endObject();
        return text.toString();
    }

    /**
     * Returns the checksum of a text.
     *
     * @throws CharacterCodingException if it is not valid Unicode
     */
    static String sha256(String text) throws CharacterCodingException {
        return Hashing.sha256().hashBytes(utf8(text)).toString();
    }

    /** Not String.getBytes, which writes a question mark for what is not valid. */
    private static byte[] utf8(String text) throws CharacterCodingException {
        ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
        byte[] bytes = new byte[encoded.remaining()];
        encoded.get(bytes);
        return bytes;
    }

    private static void write(JsonWriter json, LivenessTrace liveness) throws IOException {
        List<CreatedArray> arrays = liveness.arrays();
        json.beginObject().name("dataTypes").beginArray();
        for (CreatedArray array : arrays) {
            json.value(array.type().dataType());
        }
        json.endArray().name("shapes").beginArray();
        for (CreatedArray array : arrays) {
            List<Long> shape = array.type().shape();
            checkArgument(shape.size() <= MOST_DIMENSIONS, "%s dimensions", shape.size());
            numbers(json, shape, dimension -> dimension);
        }
        json.endArray().name("closedAt");
        numbers(json, arrays, array -> array.closedAt().orElse(NONE));
        json.endObject();
    }

    private static void write(JsonWriter json, AllocationPlan plan) throws IOException {
        List<Allocation> allocations = plan.trace().allocations();
        Map<Integer, Long> offsets = plan.plan().unitOffsets();
        json.beginObject().name("strategy").value(plan.plan().strategy());
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

    private static <T> void numbers(JsonWriter json, List<T> of, ToLongFunction<T> number)
            throws IOException {
        checkArgument(of.size() <= MOST_ENTRIES, "%s entries", of.size());
        json.beginArray();
        for (T each : of) {
            json.value(number.applyAsLong(each));
        }
        json.endArray();
    }
}
