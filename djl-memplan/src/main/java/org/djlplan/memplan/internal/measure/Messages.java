package org.djlplan.memplan.internal.measure;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import com.google.gson.JsonElement;
import com.google.gson.JsonPrimitive;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.LongStream;
import org.djlplan.memplan.internal.json.RecordJson;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.primitives.Ints;

/**
 * The messages between a {@link ProcessRunner} and its process, as {@link RecordJson} writes them.
 * Parsing anything else throws a RuntimeException.
 */
final class Messages {

    /** Changes when the messages change. */
    private static final int PROTOCOL = 9;

    /** A failure that no candidate caused: the model cannot be opened. */
    static final String NOT_OPENED = "NOT_OPENED";

    private Messages() {}

    /** Returns the first message of a process. */
    static JsonElement hello() {
        return new JsonPrimitive(PROTOCOL);
    }

    /**
     * The first request.
     *
     * @param model to open
     * @param properties the system properties that the process gets
     * @param delegateClasses the class path of a custom delegate; empty if there is none
     */
    record Opening(ModelRequest model, Map<String, String> properties, List<Path> delegateClasses) {

        /** Returns the request with the properties of this process. */
        static Opening of(ModelRequest model, List<Path> delegateClasses) {
            ImmutableMap.Builder<String, String> properties = ImmutableMap.builder();
            for (String name : MeasuringJvm.PROPERTIES) {
                String value = System.getProperty(name);
                if (value != null) {
                    properties.put(name, value);
                }
            }
            return new Opening(model, properties.buildOrThrow(), delegateClasses);
        }
    }

    /** What a process does on request: the methods of a candidate runner. */
    enum Step {
        PARTITIONS,
        PREPARE,
        TIME,
        TIME_EACH_SHAPE,
        PROFILE,
        RELEASE
    }

    /**
     * A request after the first one.
     *
     * @param candidate stock for {@link Step#PARTITIONS}, which concerns no candidate
     * @param inferences their number, for steps that take times
     */
    record Request(Step step, Candidate candidate, int inferences) {}

    static List<Set<Integer>> partitions(JsonElement json) {
        return Arrays.stream(RecordJson.read(json, int[][].class))
                .<Set<Integer>>map(operators -> new TreeSet<>(Ints.asList(operators)))
                .toList();
    }

    static List<NodeTime> nodeTimes(JsonElement json) {
        return List.of(RecordJson.read(json, NodeTime[].class));
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
        long[] nanos = RecordJson.read(json, long[].class);
        checkArgument(LongStream.of(nanos).allMatch(time -> time >= 0), "negative times");
        return nanos;
    }
}
