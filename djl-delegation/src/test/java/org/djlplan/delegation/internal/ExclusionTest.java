package org.djlplan.delegation.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.spi.UnusableOptionException;
import org.djlplan.thirdparty.guava.base.Strings;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ExclusionTest {

    private static final Path FOLDER = Path.of(System.getProperty("java.io.tmpdir"));

    /** Type and name of the output of each operator. */
    private static final List<List<String>> OPERATORS =
            List.of(
                    List.of("CONV_2D", "block_1/conv/Relu6"),
                    List.of("ADD", "block_1/add"),
                    List.of("CONV_2D", "block_2/conv/Relu6"),
                    List.of("DEPTHWISE_CONV_2D", "block_2/dw"),
                    List.of("ADD", "add"),
                    List.of("CUSTOM:MaxUnpooling2D", "463"),
                    List.of("SOFTMAX", "Identity"),
                    List.of("ABS", ""));

    private static Graph graph(List<List<String>> operators) {
        List<Tensor> tensors = new ArrayList<>();
        List<Operator> chain = new ArrayList<>();
        tensors.add(tensor(0, "in"));
        for (int i = 0; i < operators.size(); i++) {
            tensors.add(tensor(i + 1, operators.get(i).get(1)));
            chain.add(
                    new Operator(
                            i, operators.get(i).get(0), List.of(i), List.of(i + 1), List.of()));
        }
        return new Graph("net", chain, tensors, List.of(0), List.of(operators.size()));
    }

    private static Tensor tensor(int id, String name) {
        return new Tensor(
                id,
                name,
                ElementType.FLOAT32,
                List.of(1),
                4,
                Storage.INTERMEDIATE,
                Optional.empty());
    }

    private static FakeModel model(List<List<String>> operators) {
        FakeModel model = new FakeModel(FOLDER.resolve("exclusion-test"));
        model.graph = Optional.of(graph(operators));
        return model;
    }

    private static Set<Integer> excluded(String text) {
        return excluded(text, model(OPERATORS));
    }

    private static Set<Integer> excluded(String text, FakeModel model) {
        return Exclusion.parse(text).orElseThrow().of(model.graph());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''                        | ''",
                "' , ,'                    | ''",
                "0                         | 0",
                "7                         | 7",
                "2-4                       | 2 3 4",
                "2 - 4, 6.0                | 2 3 4 6",
                "2–3                       | 2 3",
                "3-3                       | 3",
                "CONV_2D                   | 0 2",
                "conv_2d                   | 0 2",
                "*conv_2d                  | 0 2 3",
                "Add                       | 1 4",
                "add                       | 4",
                "type:add                  | 1 4",
                "name:add                  | 4",
                "block_1/*                 | 0 1",
                "block_*/conv/*            | 0 2",
                "Block_*/conv/*            | FAILS",
                "*                         | 0 1 2 3 4 5 6 7",
                "name:*                    | 0 1 2 3 4 5 6",
                "name:463                  | 5",
                "463                       | FAILS",
                "custom:maxunpooling2d     | 5",
                "identity                  | FAILS",
                "Identity,block_1/add,0-1  | 0 1 6",
                "0-8                       | FAILS",
                "999999999                 | FAILS",
                "123456789012              | FAILS",
                "-1                        | FAILS",
                "name:CONV_2D              | FAILS",
                "type:Identity             | FAILS",
                "block_1/conv/Relu6*6      | FAILS",
                "CONV_2D,block_9/*         | FAILS",
            })
    void of_parts_areTheOperatorsOfTheModel(String text, String expected) {
        if (expected.equals("FAILS")) {
            assertThrows(UnusableOptionException.class, () -> excluded(text));
        } else {
            String found =
                    excluded(text).stream().map(String::valueOf).collect(Collectors.joining(" "));
            assertEquals(expected, found);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"23-17", "0,5-4", "1–0"})
    void parse_rangeThatEndsBeforeItBegins_isRefused(String text) {
        String message =
                assertThrows(
                                IllegalArgumentException.class,
                                () -> DelegationOptions.parse(Map.of("delegation.exclude", text)))
                        .getMessage();
        assertTrue(message.startsWith("delegation.exclude=" + text + ": must be"), message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "block_1/conv/Relu    | block_1/conv/Relu6, block_2/conv/Relu6",
                "CONV2D               | the nearest are CONV_2D",
                "9                    | the operators of net are 0 to 7",
                "5-9                  | the operators of net are 0 to 7",
            })
    void of_unknown_namesTheNearest(String text, String near) {
        String message =
                assertThrows(UnusableOptionException.class, () -> excluded(text)).getMessage();
        assertTrue(message.startsWith("delegation.exclude=" + text + ": "), message);
        assertTrue(message.contains(near), message);
    }

    /** The log then has text from a model's folder. */
    @Test
    void of_longTextWithBreaks_isShownShortAndInOneLine() {
        String text = "no\nsuch" + "x".repeat(100_000);
        String message =
                assertThrows(UnusableOptionException.class, () -> excluded(text)).getMessage();
        assertTrue(message.length() < 1_000 && message.lines().count() == 1, message);
        assertEquals(Optional.empty(), Exclusion.parse(Strings.repeat("ADD,", 1001)));
    }
}
