package org.djlplan.integration.networks;

import static org.djlplan.integration.support.ModelSketch.ABSENT;
import static org.djlplan.memplan.graph.ElementType.BOOL;
import static org.djlplan.memplan.graph.ElementType.FLOAT32;
import static org.djlplan.memplan.graph.ElementType.INT32;
import static org.djlplan.memplan.graph.ElementType.OPAQUE;

import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.internal.source.tflite.TfLiteBytes;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperatorCode;

/** Small models, each with one unusual property. */
public final class OddModels {

    private static final int[] ROW = {1, 16};
    private static final int[] ONE = {1};
    private static final Form FLOATS = Form.of(FLOAT32, ROW);
    private static final Form NUMBER = Form.of(INT32, ONE);
    private static final Form TRUTH = Form.of(BOOL, ONE);

    /** The code of STABLEHLO_COMPOSITE. */
    private static final int COMPOSITE = 206;

    private OddModels() {}

    /** A custom operator that no engine knows. */
    public static TfLiteFile customOperator() {
        ModelSketch main = new ModelSketch();
        int x = main.floatOperator("RELU", ROW, main.input(FLOAT32, ROW));
        int y = main.tensor(FLOAT32, ROW);
        main.operator(
                new TfLiteOperatorCode(TfLiteOperatorCode.CUSTOM, "NoSuchOperator", 1),
                Optional.empty(),
                List.of(y),
                x);
        main.output(main.floatOperator("TANH", ROW, y));
        return main.build();
    }

    /**
     * The second input says how often the row is repeated, so the output's size is not in the file.
     */
    public static TfLiteFile dynamicOutput() {
        ModelSketch main = new ModelSketch();
        main.output(main.floatOperator("RELU", ROW, repeated(main)));
        return main.build();
    }

    private static int repeated(ModelSketch main) {
        int x = main.floatOperator("TANH", ROW, main.input(FLOAT32, ROW));
        return main.operator("TILE", options("TileOptions"), FLOATS, x, main.input(INT32, 2));
    }

    private static Optional<FlatTable> options(String type) {
        return Optional.of(FlatTable.of(type));
    }

    /** Intermediate sizes are known only at run time; the output is one number. */
    public static TfLiteFile dynamicInside() {
        ModelSketch main = new ModelSketch();
        main.output(sum(main, repeated(main)));
        return main.build();
    }

    private static int sum(ModelSketch graph, int x) {
        Form result = Form.of(FLOAT32, ONE);
        return graph.operator("SUM", options("ReducerOptions"), result, x, graph.ints(0, 1));
    }

    /** A second graph that nothing calls. */
    public static TfLiteFile unusedSubgraph() {
        ModelSketch main = new ModelSketch();
        chain(main, "RELU", "TANH", "ABS", "LOGISTIC");
        chain(main.subgraph("unused"), "TANH", "RELU", "ABS");
        return main.build();
    }

    private static void chain(ModelSketch graph, String... types) {
        int x = graph.input(FLOAT32, ROW);
        for (String type : types) {
            x = graph.floatOperator(type, ROW, x);
        }
        graph.output(x);
    }

    /** A loop that adds a row to itself five times, with operators before and after. */
    public static TfLiteFile whileLoop() {
        ModelSketch main = new ModelSketch();
        int x = main.floatOperator("TANH", ROW, main.input(FLOAT32, ROW));
        x = main.floatOperator("ABS", ROW, x);
        int count = main.tensor(INT32, ONE);
        int y = main.tensor(FLOAT32, ROW);
        main.operator(
                "WHILE",
                Optional.of(
                        FlatTable.of("WhileOptions")
                                .with("cond_subgraph_index", 1)
                                .with("body_subgraph_index", 2)),
                List.of(count, y),
                main.ints(0),
                x);
        main.output(main.floatOperator("TANH", ROW, main.floatOperator("NEG", ROW, y)));

        ModelSketch condition = main.subgraph("condition");
        int i = condition.input(INT32, ONE);
        int unused = condition.input(FLOAT32, ROW);
        condition.output(condition.operator("LESS", Optional.empty(), TRUTH, i, condition.ints(5)));

        ModelSketch body = main.subgraph("body");
        i = body.input(INT32, ONE);
        x = body.input(FLOAT32, ROW);
        int next = body.operator("ADD", options("AddOptions"), NUMBER, i, body.ints(1));
        int sum = body.operator("ADD", options("AddOptions"), FLOATS, x, x);
        body.output(next, body.floatOperator("LOGISTIC", ROW, sum));
        return main.build();
    }

    /** Runs one of two graphs, depending on the input's sum; random inputs reach both. */
    public static TfLiteFile branch() {
        ModelSketch main = new ModelSketch();
        int y = choice(main, main.floatOperator("ABS", ROW, main.input(FLOAT32, ROW)));
        main.output(main.floatOperator("NEG", ROW, y));
        chain(main.subgraph("then"), "TANH", "NEG");
        chain(main.subgraph("else"), "LOGISTIC", "ABS");
        return main.build();
    }

    /**
     * A named composite, which runs another graph. Only TensorFlow Lite 2.17 and later knows it.
     */
    public static TfLiteFile composite() {
        ModelSketch main = new ModelSketch();
        int x = main.floatOperator("TANH", ROW, main.input(FLOAT32, ROW));
        int y = main.tensor(FLOAT32, ROW);
        main.operator(
                new TfLiteOperatorCode(COMPOSITE, "", 1),
                Optional.of(
                        FlatTable.of("StableHLOCompositeOptions")
                                .with("name", "odd.chain")
                                .with("composite_attributes", TfLiteBytes.of(new byte[4]))
                                .with("decomposition_subgraph_index", 1)),
                List.of(y),
                x);
        main.output(main.floatOperator("NEG", ROW, main.floatOperator("ABS", ROW, y)));
        chain(main.subgraph("decomposition"), "LOGISTIC", "NEG", "TANH");
        return main.build();
    }

    private static int choice(ModelSketch main, int x) {
        int large =
                main.operator(
                        "GREATER", Optional.empty(), TRUTH, sum(main, x), main.floats(ONE, 8f));
        FlatTable branches =
                FlatTable.of("IfOptions")
                        .with("then_subgraph_index", 1)
                        .with("else_subgraph_index", 2);
        return main.operator("IF", Optional.of(branches), FLOATS, large, x);
    }

    /**
     * One of two graphs, each of which adds its inputs up (RNN). Inputs of ones all go to the
     * first.
     */
    public static TfLiteFile statefulBranches() {
        ModelSketch main = new ModelSketch();
        int y = choice(main, main.floatOperator("ABS", ROW, main.input(FLOAT32, ROW)));
        main.output(main.floatOperator("ABS", ROW, y));
        for (String name : List.of("then", "else")) {
            ModelSketch branch = main.subgraph(name);
            branch.output(sumSoFar(branch, branch.input(FLOAT32, ROW)));
        }
        return main.build();
    }

    private static int sumSoFar(ModelSketch graph, int x) {
        float[] identity = new float[ROW[1] * ROW[1]];
        for (int i = 0; i < ROW[1]; i++) {
            identity[i * ROW[1] + i] = 1;
        }
        int[] square = {ROW[1], ROW[1]};
        return graph.operator(
                "RNN",
                options("RNNOptions"),
                FLOATS,
                x,
                graph.floats(square, identity),
                graph.floats(square, identity),
                graph.floats(new int[] {ROW[1]}, new float[ROW[1]]),
                graph.state(ROW));
    }

    /** Adds its inputs up in a resource variable, which begins with zeros. */
    public static TfLiteFile resourceVariable() {
        ModelSketch main = new ModelSketch();
        int x = main.input(FLOAT32, ROW);
        main.operator(
                "CALL_ONCE",
                Optional.of(FlatTable.of("CallOnceOptions").with("init_subgraph_index", 1)),
                List.of());
        int variable = variable(main);
        int before = main.floatOperator("READ_VARIABLE", ROW, variable);
        int sum = main.operator("ADD", options("AddOptions"), FLOATS, before, x);
        main.operator("ASSIGN_VARIABLE", Optional.empty(), List.of(), variable, sum);
        main.output(sum);

        ModelSketch once = main.subgraph("once");
        once.operator(
                "ASSIGN_VARIABLE",
                Optional.empty(),
                List.of(),
                variable(once),
                once.floats(ROW, new float[ROW[1]]));
        return main.build();
    }

    private static int variable(ModelSketch graph) {
        FlatTable name =
                FlatTable.of("VarHandleOptions").with("container", "").with("shared_name", "sum");
        return graph.operator("VAR_HANDLE", Optional.of(name), Form.of(OPAQUE, ONE));
    }

    /** A recurrent filter (SVDF): its output depends on all inputs since it was loaded. */
    public static TfLiteFile stateful() {
        ModelSketch main = new ModelSketch();
        main.output(filter(main, main.floatOperator("TANH", ROW, main.input(FLOAT32, ROW))));
        return main.build();
    }

    /**
     * A recurrent filter of a row and another one that the second input selects: any number but 0
     * to 3 is an error, before the filter has run.
     */
    public static TfLiteFile statefulLookup() {
        ModelSketch main = new ModelSketch();
        int x = main.floatOperator("TANH", ROW, main.input(FLOAT32, ROW));
        int rows = randoms(main, 4, ROW[1]);
        int which = main.input(INT32, ONE);
        int selected = main.operator("GATHER", options("GatherOptions"), FLOATS, rows, which);
        int sum = main.operator("ADD", options("AddOptions"), FLOATS, x, selected);
        main.output(filter(main, sum));
        return main.build();
    }

    private static int filter(ModelSketch main, int x) {
        int filters = 8;
        int memory = 5;
        int[] units = {1, filters};
        int y =
                main.operator(
                        "SVDF",
                        Optional.of(FlatTable.of("SVDFOptions").with("rank", 1)),
                        Form.of(FLOAT32, units),
                        x,
                        randoms(main, filters, ROW[1]),
                        randoms(main, filters, memory),
                        ABSENT,
                        main.state(1, memory * filters));
        return main.floatOperator("TANH", units, main.floatOperator("ABS", units, y));
    }

    private static int randoms(ModelSketch graph, int rows, int columns) {
        Random random = new Random(7);
        float[] values = new float[rows * columns];
        for (int i = 0; i < values.length; i++) {
            values[i] = random.nextFloat() - 0.5f;
        }
        return graph.floats(new int[] {rows, columns}, values);
    }

    /** A model without a tensor between input and output. */
    public static TfLiteFile singleOperator() {
        ModelSketch main = new ModelSketch();
        chain(main, "TANH");
        return main.build();
    }

    /** The first output is read by a later operator. */
    public static TfLiteFile outputReadLater() {
        ModelSketch main = new ModelSketch();
        int early = main.floatOperator("RELU", ROW, main.input(FLOAT32, ROW));
        int late = main.floatOperator("NEG", ROW, main.floatOperator("TANH", ROW, early));
        main.output(early, late);
        return main.build();
    }

    /** The input and a constant are outputs, too, and one tensor is an output twice. */
    public static TfLiteFile outputIsInputAndConstant() {
        ModelSketch main = new ModelSketch();
        int x = main.input(FLOAT32, ROW);
        int y = main.floatOperator("NEG", ROW, main.floatOperator("TANH", ROW, x));
        main.output(x, main.ints(1, 2, 3), y, y);
        return main.build();
    }

    /** A model without operators. */
    public static TfLiteFile noOperators() {
        ModelSketch main = new ModelSketch();
        main.output(main.input(FLOAT32, ROW));
        return main.build();
    }

    /** A model with intermediate tensors that have no elements. */
    public static TfLiteFile emptyTensors() {
        ModelSketch main = new ModelSketch();
        int x = main.floatOperator("TANH", ROW, main.input(FLOAT32, ROW));
        int nothing = nothingOf(main, x);
        Optional<FlatTable> rows = options("ConcatenationOptions");
        int joined = main.operator("CONCATENATION", rows, FLOATS, nothing, x);
        main.output(main.floatOperator("NEG", ROW, joined));
        return main.build();
    }

    /** An output without any element; the engine's own interface cannot read it. */
    public static TfLiteFile emptyOutput() {
        ModelSketch main = new ModelSketch();
        main.output(nothingOf(main, main.floatOperator("TANH", ROW, main.input(FLOAT32, ROW))));
        return main.build();
    }

    private static int nothingOf(ModelSketch graph, int row) {
        int[] none = {0, ROW[1]};
        int begin = graph.ints(0, 0);
        int size = graph.ints(none);
        Form result = Form.of(FLOAT32, none);
        int empty = graph.operator("SLICE", options("SliceOptions"), result, row, begin, size);
        return graph.floatOperator("ABS", none, empty);
    }
}
