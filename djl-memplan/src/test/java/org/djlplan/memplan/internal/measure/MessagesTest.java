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
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.json.RecordJson;
import org.djlplan.memplan.internal.measure.Messages.Opening;
import org.djlplan.memplan.internal.measure.Messages.Request;
import org.djlplan.memplan.internal.measure.Messages.Step;
import org.djlplan.memplan.internal.rewrite.SampleInputs;
import org.djlplan.memplan.internal.rewrite.SampleInputs.Frequent;
import org.djlplan.memplan.internal.rewrite.SampledRequests;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.OutputError.ByOperator;
import org.djlplan.memplan.spi.OutputError.Deviation;
import org.djlplan.memplan.spi.Precision;
import org.djlplan.memplan.spi.ShapeMix;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MessagesTest {

    /** Returns the message as the other process receives it. */
    private static JsonElement sent(Object message) {
        String line = RecordJson.tree(message).toString();
        assertEquals(1, line.lines().count());
        return JsonParser.parseString(line);
    }

    private static void assertArrives(Record message) {
        assertEquals(message, RecordJson.read(sent(message), message.getClass()));
    }

    @Test
    void requestsAndResults_any_arrive() {
        Deviation infinite = new Deviation(1 / 0.0, Double.MIN_VALUE, Integer.MAX_VALUE);
        OutputError first =
                new OutputError(ElementType.FLOAT16, infinite, Deviation.NONE, 1 / 3.0 + 1);
        OutputError second =
                new OutputError(ElementType.INT8, 3).withOperators(new ByOperator(7, 1 / 0.0));
        assertArrives(new Trial(3, List.of(first, second), Long.MAX_VALUE, 9));
        assertArrives(new Request(Step.TIME, Candidate.ofRecipe("frozen", -1), 3));
        Candidate some = new Candidate(ImmutableSortedSet.of(0, 1 << 20), 2, true);
        assertArrives(new Request(Step.RELEASE, some, 0));
        List<NodeTime> nodes = List.of(new NodeTime(new TreeSet<>(Set.of(1, 2)), true, 7));
        assertEquals(nodes, Messages.nodeTimes(sent(nodes)));
        List<Set<Integer>> partitions = List.of(Set.of(2, 1), Set.of());
        assertEquals(partitions, Messages.partitions(sent(partitions)));
        long[] nanos = {0, 1, Long.MAX_VALUE};
        assertArrayEquals(nanos, Messages.nanos(sent(nanos), 3));
    }

    @ParameterizedTest
    @ValueSource(strings = {"[1,-1]", "[1]", "[1,null]", "null", "[1,{}]"})
    void nanos_impossible_throws(String text) {
        JsonElement json = JsonParser.parseString(text);
        assertThrows(RuntimeException.class, () -> Messages.nanos(json, 2));
    }

    @ParameterizedTest
    @ValueSource(strings = {"null", "{}", "7", "[[]]", "[null]", "[{\"operators\":[]}]"})
    void nodeTimes_somethingElse_throwsRuntimeException(String text) {
        JsonElement json = JsonParser.parseString(text);
        assertThrows(RuntimeException.class, () -> Messages.nodeTimes(json));
    }

    @Test
    void opening_tfLite_arrives() {
        List<List<List<Integer>>> shapes =
                List.of(List.of(List.of(1, 2), List.of()), List.of(List.of(3, 2), List.of()));
        for (Optional<ShapeMix> mix :
                List.of(Optional.<ShapeMix>empty(), Optional.of(new ShapeMix(shapes, 1.0 / 3)))) {
            OpenModelRequest model =
                    new OpenModelRequest(
                            Path.of("a \"model\"\n.tflite"),
                            "a \"file\"",
                            "class:Some$Name",
                            mix.isEmpty() ? Tolerance.AUTO : Tolerance.of(1.0 / 3),
                            Path.of("library.so"),
                            new MemoryNeed(7, 8),
                            mix);
            assertArrives(new Opening(model, Map.of("a", "b"), List.of(Path.of("/a/jar"))));
            assertTrue(model.file().isAbsolute() && model.engineLibrary().isAbsolute());
        }
    }

    @Test
    void opening_torchScriptWithRequestsOfAUser_arrives() {
        SampleInputs inputs =
                new SampleInputs(
                        List.of(
                                new ArrayType("int64", List.of(1L)),
                                new ArrayType("float32", List.of())),
                        List.of("tokens", ""),
                        List.of(
                                ByteBuffer.wrap(new byte[] {1, 0, 0, 0, 0, 0, 0, -1}),
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
        assertArrives(new Opening(model, Map.of(), List.of()));
    }
}
