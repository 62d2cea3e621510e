package org.djlplan.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.spi.ShapeMix;
import org.djlplan.memplan.testing.GraphSketch;
import org.djlplan.thirdparty.guava.collect.ObjectArrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParameterException;

class TunedModelTest {

    @Command
    private static final class Measuring {
        @Mixin private TunedModel model = new TunedModel();
    }

    /** Returns a graph with two inputs. */
    private static Graph graph() {
        GraphSketch sketch = new GraphSketch();
        int image = sketch.input(1, 8, 8);
        int scale = sketch.input(1);
        int output = sketch.tensor(1, 8, 8);
        return sketch.operator("MUL", output, image, scale).output(output).build();
    }

    private static Optional<ShapeMix> mix(String... arguments) {
        Measuring measuring = new Measuring();
        Parsed.register(new CommandLine(measuring))
                .parseArgs(ObjectArrays.concat(arguments, "net.tflite"));
        return measuring.model.mix(graph());
    }

    @Test
    void mix_nothingOrTheShapesInTheFile_isEmpty() {
        assertEquals(Optional.empty(), mix());
        assertEquals(Optional.empty(), mix("--input-shape=1,8,8", "--input-shape=1"));
    }

    @Test
    void mix_oneShapePerInput_changesRarely() {
        assertEquals(
                Optional.of(new ShapeMix(List.of(List.of(List.of(2, 9, 8), List.of(3))), 1.0 / 16)),
                mix("--input-shape=2,9,8", "--input-shape=3"));
    }

    @Test
    void mix_severalShapesPerInput_changeEachTime() {
        assertEquals(
                Optional.of(
                        new ShapeMix(
                                List.of(
                                        List.of(List.of(1, 8, 8), List.of(1)),
                                        List.of(List.of(1, 9, 9), List.of(2))),
                                1)),
                mix(
                        "--input-shape=1,8,8",
                        "--input-shape=1",
                        "--input-shape=1,9,9",
                        "--input-shape=2"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "1,9,9 | the model has 2 inputs",
                "1,9 2 | input 0 is [1, 8, 8] in the file, which [1, 9] does not fit",
                "1,9,9 scalar | input 1 is [1] in the file, which [] does not fit",
                "1,9,9 2 1,9,9 2 | the same shapes twice",
                "1,9,9 1 1,9,9 2 1,9,9 3 1,9,9 4 | at most 3 for each input",
                "1,0,9 1 | dimensions must be at least 1: (1, 0, 9)",
                "1,,9 1 | not a shape such as 1,3,224,224: '1,,9'",
            })
    void mix_unfitting_isWrongUsage(String shapes, String message) {
        String[] arguments = ("--input-shape=" + shapes.replace(" ", " --input-shape=")).split(" ");
        ParameterException wrong = assertThrows(ParameterException.class, () -> mix(arguments));
        assertTrue(wrong.getMessage().contains(message), wrong.getMessage());
    }
}
