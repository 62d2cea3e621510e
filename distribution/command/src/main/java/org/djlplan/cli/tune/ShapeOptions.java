package org.djlplan.cli.tune;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.spi.ShapeMix;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.collect.Lists;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** The option for inputs of other shapes than those in the model's file. */
final class ShapeOptions {

    /** The smallest share of changes that predictions of one shape are counted with. */
    private static final double RARELY = 1.0 / 16;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(
            names = "--input-shape",
            paramLabel = "D,D,…[:TYPE]",
            converter = Converter.class,
            description =
                    "Measure at this shape instead of the one in the file, once per input; required"
                            + " if the shapes in the file are placeholders. Given again for each input,"
                            + " up to three times: the result of three shapes serves all that they"
                            + " enclose. Loads with delegation.enabled=every-shape use it. For a"
                            + " TorchScript model required, once per input, with a type such as int64"
                            + " unless it is float32.")
    private List<Typed> shapes = new ArrayList<>();

    /** For picocli. */
    ShapeOptions() {}

    boolean given() {
        return !shapes.isEmpty();
    }

    /**
     * Returns the shapes to measure at; empty for those in the file.
     *
     * @throws ParameterException if they do not fit the model's inputs
     */
    Optional<ShapeMix> mix(Graph graph) {
        if (shapes.isEmpty()) {
            return Optional.empty();
        }
        List<List<Integer>> inFile =
                graph.inputs().stream().map(id -> graph.tensors().get(id).shape()).toList();
        if (inFile.isEmpty() || shapes.size() % inFile.size() != 0) {
            throw wrong("the model has %d inputs".formatted(inFile.size()));
        }
        List<List<List<Integer>>> all =
                Lists.partition(shapes.stream().map(Typed::dimensions).toList(), inFile.size());
        if (all.size() > ShapeMix.MOST) {
            throw wrong("at most %d for each input".formatted(ShapeMix.MOST));
        }
        for (List<List<Integer>> each : all) {
            for (int i = 0; i < each.size(); i++) {
                if (each.get(i).size() != inFile.get(i).size()) {
                    throw wrong(
                            "input %d is %s in the file, which %s does not fit"
                                    .formatted(i, inFile.get(i), each.get(i)));
                }
            }
        }
        if (ImmutableSet.copyOf(all).size() < all.size()) {
            throw wrong("the same shapes twice");
        }
        if (all.equals(List.of(inFile))) {
            return Optional.empty();
        }
        return Optional.of(new ShapeMix(all, all.size() == 1 ? RARELY : 1));
    }

    /**
     * Returns the inputs of a model whose file does not describe them.
     *
     * @throws ParameterException if none are given
     */
    List<ArrayType> inputs() {
        if (shapes.isEmpty()) {
            throw wrong("is required, once per input, for a TorchScript model");
        }
        return shapes.stream()
                .map(
                        each ->
                                new ArrayType(
                                        each.type().orElse("float32"),
                                        each.dimensions().stream().map(Long::valueOf).toList()))
                .toList();
    }

    private ParameterException wrong(String why) {
        return new ParameterException(spec.commandLine(), "--input-shape: " + why);
    }

    /** A shape; picocli would add the elements of a bare list one by one. */
    private record Typed(List<Integer> dimensions, Optional<String> type) {}

    /** Reads {@code 1,16000} or {@code scalar}. */
    private static final class Converter implements ITypeConverter<Typed> {

        private static final ImmutableSet<String> TYPES =
                ImmutableSet.of("float32", "float64", "int32", "int64", "int8", "uint8");

        @Override
        public Typed convert(String text) {
            List<String> parts = Splitter.on(':').limit(2).splitToList(text);
            Optional<String> type = parts.stream().skip(1).findFirst();
            try {
                List<Integer> dimensions =
                        parts.get(0).equals("scalar")
                                ? List.of()
                                : Arrays.stream(parts.get(0).split(",", -1))
                                        .map(Integer::valueOf)
                                        .toList();
                if (dimensions.stream().allMatch(dimension -> dimension > 0)
                        && type.map(TYPES::contains).orElse(true)) {
                    return new Typed(dimensions, type);
                }
            } catch (NumberFormatException e) {
                // The same message as for dimensions below 1.
            }
            throw new TypeConversionException("not a shape such as 1,224,224,3: '" + text + "'");
        }
    }
}
