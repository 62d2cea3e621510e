package org.djlplan.memplan.internal.measure;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.rewrite.SampleInputs;
import org.djlplan.memplan.internal.rewrite.SampleInputs.Frequent;
import org.djlplan.memplan.internal.rewrite.SampledRequests;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.OutputError.Deviation;
import org.djlplan.memplan.spi.Precision;
import org.djlplan.memplan.spi.ShapeMix;
import org.djlplan.memplan.spi.Tolerance;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MessagesTest {

    private static final int TRIES = 200;

    /** Returns the message as the other process receives it. */
    private static JsonElement sent(JsonElement json) {
        String line = json.toString();
        assertEquals(1, line.lines().count());
        return JsonParser.parseString(line);
    }

    @Property(tries = TRIES)
    void candidate_any_arrives(
            @ForAll Set<@IntRange(max = 1 << 20) Integer> operators,
            @ForAll @IntRange(min = 1) int threads,
            @ForAll boolean someThreads,
            @ForAll boolean transientBuffers) {
        Candidate candidate =
                new Candidate(
                        new TreeSet<>(operators),
                        someThreads ? threads : -1,
                        transientBuffers && !operators.isEmpty());
        JsonElement request = sent(Messages.request(Messages.TIME, candidate, 3));
        assertEquals(candidate, Messages.candidate(request.getAsJsonObject()));
    }

    @Provide
    Arbitrary<OutputError> errors() {
        Arbitrary<Double> numbers =
                Arbitraries.oneOf(
                        Arbitraries.doubles().greaterOrEqual(0),
                        Arbitraries.of(Double.POSITIVE_INFINITY, Double.MIN_VALUE));
        Arbitrary<Deviation> deviations =
                Combinators.combine(numbers, numbers, Arbitraries.integers().greaterOrEqual(0))
                        .as(Deviation::new);
        return Combinators.combine(
                        Arbitraries.of(ElementType.class),
                        deviations,
                        deviations,
                        Arbitraries.doubles().greaterOrEqual(1))
                .as(OutputError::new);
    }

    @Property(tries = TRIES)
    void trial_any_arrives(
            @ForAll("errors") OutputError first,
            @ForAll("errors") OutputError second,
            @ForAll @LongRange(min = 0, max = Long.MAX_VALUE) long memoryBytes,
            @ForAll @IntRange int count) {
        Trial trial = new Trial(count, List.of(first, second), memoryBytes, count);
        assertEquals(trial, Messages.trial(sent(Messages.toJson(trial))));
    }

    @Property(tries = TRIES)
    void nodeTimes_any_arrive(
            @ForAll @Size(min = 1) Set<@IntRange Integer> operators,
            @ForAll boolean delegated,
            @ForAll @LongRange(min = 0, max = Long.MAX_VALUE) long nanos) {
        NodeTime node = new NodeTime(new TreeSet<>(operators), delegated, nanos);
        List<NodeTime> nodes = List.of(node, node);
        assertEquals(nodes, Messages.nodeTimes(sent(Messages.toJson(nodes))));
    }

    @Property(tries = TRIES)
    void partitions_any_arrive(@ForAll List<Set<@IntRange Integer>> partitions) {
        assertEquals(partitions, Messages.partitions(sent(Messages.partitionsToJson(partitions))));
    }

    @Test
    void nanos_extremes_arrive() {
        long[] nanos = {0, 1, Long.MAX_VALUE};
        assertArrayEquals(nanos, Messages.nanos(sent(Messages.toJson(nanos)), 3));
    }

    @Test
    void nanos_impossible_throws() {
        assertThrows(
                IllegalArgumentException.class,
                () -> Messages.nanos(JsonParser.parseString("[1,-1]"), 2));
        assertThrows(
                IllegalArgumentException.class,
                () -> Messages.nanos(JsonParser.parseString("[1]"), 2));
    }

    @Test
    void model_allOptions_arrive() {
        for (Tolerance tolerance : List.of(Tolerance.AUTO, Tolerance.of(1.0 / 3))) {
            assertArrives(tolerance, Optional.empty());
        }
        ShapeMix mix =
                new ShapeMix(
                        List.of(
                                List.of(List.of(1, 2), List.of()),
                                List.of(List.of(3, 2), List.of())),
                        1.0 / 3);
        assertArrives(Tolerance.AUTO, Optional.of(mix));
    }

    @Test
    void openTorchScript_requestsOfAUser_arrive() {
        SampleInputs inputs =
                new SampleInputs(
                        List.of(
                                new ArrayType("int64", List.of(1L, 2L)),
                                new ArrayType("float32", List.of())),
                        List.of("tokens", ""),
                        List.of(
                                ByteBuffer.wrap(
                                        new byte[] {
                                            1, 0, 0, 0, 0, 0, 0, -1, 2, 0, 0, 0, 0, 0, 0, 0
                                        }),
                                ByteBuffer.wrap(new byte[] {0, 0, 1, 1})));
        TorchModelRequest model =
                new TorchModelRequest(
                        Path.of("a model.pt"),
                        "a file",
                        new SampledRequests(
                                List.of(new Frequent(inputs, 7)), List.of(inputs, inputs)),
                        Tolerance.of(1e-5).with(new Precision("int8", .9)),
                        2,
                        new MemoryNeed(7, 8));
        assertEquals(model, ModelRequest.fromJson(sent(model.toJson()).getAsJsonObject()));
    }

    private static void assertArrives(Tolerance tolerance, Optional<ShapeMix> mix) {
        OpenModelRequest model =
                new OpenModelRequest(
                        Path.of("a \"model\"\n.tflite"),
                        "a \"file\"",
                        "class:Some$Name",
                        tolerance,
                        Path.of("library.so"),
                        new MemoryNeed(7, 8),
                        mix);
        assertEquals(model, ModelRequest.fromJson(sent(model.toJson()).getAsJsonObject()));
        assertTrue(model.file().isAbsolute() && model.engineLibrary().isAbsolute());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "null",
                "{}",
                "[]",
                "[1]",
                "7",
                "\"text\"",
                "{\"partitions\":-1,\"errors\":[],\"memoryBytes\":0,\"inferences\":0}",
                "{\"partitions\":1,\"errors\":[{}],\"memoryBytes\":0,\"inferences\":0}",
                "{\"partitions\":1,\"errors\":7,\"memoryBytes\":0,\"inferences\":0}",
                "{\"partitions\":\"a\",\"errors\":[],\"memoryBytes\":0,\"inferences\":0}",
                "{\"partitions\":1,\"errors\":[{\"type\":\"FLOAT32\",\"difference\":\"NaN\"}],"
                        + "\"memoryBytes\":0,\"inferences\":0}"
            })
    void trial_somethingElse_throwsRuntimeException(String text) {
        JsonElement json = JsonParser.parseString(text);
        assertThrows(RuntimeException.class, () -> Messages.trial(json));
    }

    @ParameterizedTest
    @ValueSource(strings = {"null", "{}", "7", "[[]]", "[{}]", "[{\"operators\":[]}]"})
    void nodeTimes_somethingElse_throwsRuntimeException(String text) {
        JsonElement json = JsonParser.parseString(text);
        Consumer<JsonElement> read = Messages::nodeTimes;
        assertThrows(RuntimeException.class, () -> read.accept(json));
    }
}
