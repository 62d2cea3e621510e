package org.djlplan.integration.networks;

import static org.djlplan.integration.networks.ModelSketch.ABSENT;
import static org.djlplan.integration.networks.ModelSketch.BOOL;
import static org.djlplan.integration.networks.ModelSketch.F32;
import static org.djlplan.integration.networks.ModelSketch.I32;

import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.djlplan.integration.networks.ModelSketch.SubgraphSketch;
import org.djlplan.memplan.source.tflite.FlatTable;
import org.djlplan.memplan.source.tflite.TfLiteFile;
import org.djlplan.memplan.source.tflite.TfLiteOperatorCode;

/** Small models, each with one thing that most models do not have. */
public final class OddModels {

    private static final int[] ROW = {1, 16};
    private static final int[] ONE = {1};

    private OddModels() {}

    /** A custom operator that no engine knows. */
    public static TfLiteFile customOperator() {
        ModelSketch model = new ModelSketch();
        SubgraphSketch main = model.graph("main");
        int x = main.floatOperator("RELU", ROW, main.input(F32, ROW));
        int y = main.tensor(F32, ROW);
        main.operator(
                new TfLiteOperatorCode(TfLiteOperatorCode.CUSTOM, "NoSuchOperator", 1),
                Optional.empty(),
                List.of(y),
                x);
        main.output(main.floatOperator("TANH", ROW, y));
        return model.build();
    }

    /** How often the row is repeated is the second input: the output's size is not in the file. */
    public static TfLiteFile dynamicOutput() {
        ModelSketch model = new ModelSketch();
        SubgraphSketch main = model.graph("main");
        int x = main.floatOperator("TANH", ROW, main.input(F32, ROW));
        int tiled = main.tensor(F32, ROW);
        main.operator(
                "TILE", Optional.of(FlatTable.of("TileOptions")), List.of(tiled), x, repeats(main));
        int y = main.tensor(F32, ROW);
        main.operator("RELU", Optional.empty(), List.of(y), tiled);
        main.output(y);
        return model.build();
    }

    private static int repeats(SubgraphSketch main) {
        return main.input(I32, 2);
    }

    /** Sizes known only at run time in the middle; the output is one number. */
    public static TfLiteFile dynamicInside() {
        ModelSketch model = new ModelSketch();
        SubgraphSketch main = model.graph("main");
        int x = main.floatOperator("TANH", ROW, main.input(F32, ROW));
        int tiled = main.tensor(F32, ROW);
        main.operator(
                "TILE", Optional.of(FlatTable.of("TileOptions")), List.of(tiled), x, repeats(main));
        main.output(sum(main, tiled, ONE));
        return model.build();
    }

    private static int sum(SubgraphSketch graph, int x, int[] shape) {
        int sum = graph.tensor(F32, shape);
        int axes = graph.ints(new int[] {2}, 0, 1);
        graph.operator(
                "SUM",
                Optional.of(FlatTable.of("ReducerOptions").with("keep_dims", false)),
                List.of(sum),
                x,
                axes);
        return sum;
    }

    /** A second graph that nothing calls. */
    public static TfLiteFile unusedSubgraph() {
        ModelSketch model = new ModelSketch();
        chain(model.graph("main"), "RELU", "TANH", "ABS", "LOGISTIC");
        chain(model.graph("unused"), "TANH", "RELU", "ABS");
        return model.build();
    }

    private static void chain(SubgraphSketch graph, String... types) {
        int x = graph.input(F32, ROW);
        for (String type : types) {
            x = graph.floatOperator(type, ROW, x);
        }
        graph.output(x);
    }

    /** A loop that adds a row to itself five times, with operators before and after. */
    public static TfLiteFile whileLoop() {
        ModelSketch model = new ModelSketch();
        SubgraphSketch main = model.graph("main");
        int x = main.floatOperator("TANH", ROW, main.input(F32, ROW));
        x = main.floatOperator("ABS", ROW, x);
        int count = main.tensor(I32, ONE);
        int y = main.tensor(F32, ROW);
        main.operator(
                "WHILE",
                Optional.of(
                        FlatTable.of("WhileOptions")
                                .with("cond_subgraph_index", 1)
                                .with("body_subgraph_index", 2)),
                List.of(count, y),
                main.ints(ONE, 0),
                x);
        main.output(main.floatOperator("TANH", ROW, main.floatOperator("NEG", ROW, y)));

        SubgraphSketch condition = model.graph("condition");
        int i = condition.input(I32, ONE);
        int unused = condition.input(F32, ROW);
        int less = condition.tensor(BOOL, ONE);
        condition.operator("LESS", Optional.empty(), List.of(less), i, condition.ints(ONE, 5));
        condition.output(less);

        SubgraphSketch body = model.graph("body");
        i = body.input(I32, ONE);
        x = body.input(F32, ROW);
        int next = body.tensor(I32, ONE);
        body.operator("ADD", addOptions(), List.of(next), i, body.ints(ONE, 1));
        int sum = body.tensor(F32, ROW);
        body.operator("ADD", addOptions(), List.of(sum), x, x);
        body.output(next, body.floatOperator("LOGISTIC", ROW, sum));
        return model.build();
    }

    private static Optional<FlatTable> addOptions() {
        return Optional.of(FlatTable.of("AddOptions"));
    }

    /** One of two graphs, by the sum of the input: both branches occur with random inputs. */
    public static TfLiteFile branch() {
        ModelSketch model = new ModelSketch();
        SubgraphSketch main = model.graph("main");
        int x = main.floatOperator("ABS", ROW, main.input(F32, ROW));
        int large = main.tensor(BOOL, ONE);
        main.operator(
                "GREATER",
                Optional.empty(),
                List.of(large),
                sum(main, x, ONE),
                main.floats(ONE, 8f));
        int y = main.tensor(F32, ROW);
        main.operator(
                "IF",
                Optional.of(
                        FlatTable.of("IfOptions")
                                .with("then_subgraph_index", 1)
                                .with("else_subgraph_index", 2)),
                List.of(y),
                large,
                x);
        main.output(main.floatOperator("NEG", ROW, y));
        chain(model.graph("then"), "TANH", "NEG");
        chain(model.graph("else"), "LOGISTIC", "ABS");
        return model.build();
    }

    /** A recurrent filter (SVDF): what it gives depends on all inputs since it was loaded. */
    public static TfLiteFile stateful() {
        int filters = 8;
        int memory = 5;
        ModelSketch model = new ModelSketch();
        SubgraphSketch main = model.graph("main");
        int x = main.floatOperator("TANH", ROW, main.input(F32, ROW));
        int[] units = {1, filters};
        int y = main.tensor(F32, units);
        main.operator(
                "SVDF",
                Optional.of(FlatTable.of("SVDFOptions").with("rank", 1)),
                List.of(y),
                x,
                randoms(main, filters, ROW[1]),
                randoms(main, filters, memory),
                ABSENT,
                main.state(1, memory * filters));
        main.output(main.floatOperator("TANH", units, main.floatOperator("ABS", units, y)));
        return model.build();
    }

    private static int randoms(SubgraphSketch graph, int rows, int columns) {
        Random random = new Random(7);
        float[] values = new float[rows * columns];
        for (int i = 0; i < values.length; i++) {
            values[i] = random.nextFloat() - 0.5f;
        }
        return graph.floats(new int[] {rows, columns}, values);
    }

    /** No tensor between input and output. */
    public static TfLiteFile singleOperator() {
        ModelSketch model = new ModelSketch();
        chain(model.graph("main"), "TANH");
        return model.build();
    }

    /** The first output is read by a later operator. */
    public static TfLiteFile outputReadLater() {
        ModelSketch model = new ModelSketch();
        SubgraphSketch main = model.graph("main");
        int early = main.floatOperator("RELU", ROW, main.input(F32, ROW));
        int late = main.floatOperator("NEG", ROW, main.floatOperator("TANH", ROW, early));
        main.output(early, late);
        return model.build();
    }

    /** Input and constant are outputs too, and one tensor is so twice. */
    public static TfLiteFile outputIsInputAndConstant() {
        ModelSketch model = new ModelSketch();
        SubgraphSketch main = model.graph("main");
        int x = main.input(F32, ROW);
        int y = main.floatOperator("NEG", ROW, main.floatOperator("TANH", ROW, x));
        main.output(x, main.ints(new int[] {3}, 1, 2, 3), y, y);
        return model.build();
    }

    /** No operator at all. */
    public static TfLiteFile noOperators() {
        ModelSketch model = new ModelSketch();
        SubgraphSketch main = model.graph("main");
        main.output(main.input(F32, ROW));
        return model.build();
    }

    /** Tensors without any element in the middle. */
    public static TfLiteFile emptyTensors() {
        ModelSketch model = new ModelSketch();
        SubgraphSketch main = model.graph("main");
        int x = main.floatOperator("TANH", ROW, main.input(F32, ROW));
        int joined = main.tensor(F32, ROW);
        main.operator(
                "CONCATENATION",
                Optional.of(FlatTable.of("ConcatenationOptions").with("axis", 0)),
                List.of(joined),
                nothingOf(main, x),
                x);
        main.output(main.floatOperator("NEG", ROW, joined));
        return model.build();
    }

    /** An output without any element; the engine's own interface cannot read it. */
    public static TfLiteFile emptyOutput() {
        ModelSketch model = new ModelSketch();
        SubgraphSketch main = model.graph("main");
        main.output(nothingOf(main, main.floatOperator("TANH", ROW, main.input(F32, ROW))));
        return model.build();
    }

    private static int nothingOf(SubgraphSketch graph, int row) {
        int[] none = {0, ROW[1]};
        int empty = graph.tensor(F32, none);
        graph.operator(
                "SLICE",
                Optional.of(FlatTable.of("SliceOptions")),
                List.of(empty),
                row,
                graph.ints(new int[] {2}, 0, 0),
                graph.ints(new int[] {2}, none));
        return graph.floatOperator("ABS", none, empty);
    }
}
