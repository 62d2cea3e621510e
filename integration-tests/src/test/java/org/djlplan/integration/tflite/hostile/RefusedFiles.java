package org.djlplan.integration.tflite.hostile;

import static org.djlplan.integration.tflite.hostile.CraftedFiles.floats;
import static org.djlplan.integration.tflite.hostile.CraftedFiles.ints;
import static org.djlplan.integration.tflite.hostile.CraftedFiles.options;
import static org.djlplan.integration.tflite.hostile.CraftedFiles.text;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.integration.tflite.hostile.CraftedFiles.Case;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.internal.source.tflite.TfLiteBytes;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperatorCode;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Makes {@link CraftedFile}s without a sound answer, which must be refused before the engine runs,
 * and beside them similar files that must run.
 */
final class RefusedFiles {

    /** The end of the names of the files that must run. */
    static final String SOUND = " (sound)";

    private static final int FAR = 1 << 20;
    private static final int STABLEHLO_CASE = 209;

    private final List<CraftedFile> files = new ArrayList<>();

    private RefusedFiles() {}

    /** Returns all of them. */
    static List<CraftedFile> all() {
        RefusedFiles made = new RefusedFiles();
        made.sparseLookups();
        made.calls();
        made.strings();
        made.diagonals();
        made.sparse();
        made.shuffled();
        return ImmutableList.copyOf(made.files);
    }

    /** Rows of a table are added to the rows of the result that index vectors name. */
    private void sparseLookups() {
        Form table = floats(4, 3);
        for (boolean constant : new boolean[] {true, false}) {
            lookUp(SOUND, constant, table, List.of(0, 0, 1, 2), List.of(2, 3));
            for (int index : new int[] {FAR, -1, -FAR, 2}) {
                lookUp("", constant, table, List.of(0, 0, index, 0), List.of(2, 3));
            }
            lookUp("", constant, table, List.of(0, 0, 1, 0), List.of(-2, 3));
            lookUp("", constant, table, List.of(0, 0, 1, 0), List.of(1 << 30, 3));
            lookUp("", constant, table, List.of(0, 0, 1, 0), List.of(2, 3, 1));
            Form bytes = Form.of(ElementType.INT8, 4, 3);
            lookUp(" of bytes", constant, bytes, List.of(0, 0, 1, 2), List.of(2, 3));
        }
    }

    private void lookUp(
            String name, boolean constant, Form table, List<Integer> at, List<Integer> sizes) {
        Case c = new Case();
        int ids = c.numbers(false, ints(2), 0, 1);
        int[] places = at.stream().mapToInt(Integer::intValue).toArray();
        int[] shape = sizes.stream().mapToInt(Integer::intValue).toArray();
        files.add(
                c.end(
                        text(constant, places) + " of " + sizes + name,
                        "EMBEDDING_LOOKUP_SPARSE",
                        options("EmbeddingLookupSparseOptions"),
                        floats(2, 3),
                        ids,
                        c.numbers(constant, ints(2, 2), places),
                        c.numbers(constant, ints(shape.length), shape),
                        c.constant(floats(2)),
                        c.constant(table)));
    }

    /** Calls whose options are left out or another operator's: they call the graph they are in. */
    private void calls() {
        Form truth = Form.of(ElementType.BOOL);
        for (FlatTable none : new FlatTable[] {null, options("AddOptions")}) {
            String name = none == null ? "without options" : "with " + none.type();
            Case c = new Case();
            int condition = c.model.constant(truth, ByteBuffer.allocate(1));
            files.add(c.end(name, "IF", none, floats(1, 8), condition, c.data(floats(1, 8))));
            c = new Case();
            files.add(c.end(name, "WHILE", none, truth, c.data(truth)));
        }
        Case c = new Case();
        int result = c.model.tensor(floats(1, 8));
        int choice = c.model.ints(0);
        TfLiteOperatorCode branches = new TfLiteOperatorCode(STABLEHLO_CASE, "", 1);
        c.model.operator(branches, Optional.empty(), List.of(result), choice, c.data(floats(1, 8)));
        c.model.output(result);
        files.add(c.file("STABLEHLO_CASE"));
    }

    /** Constants of strings: their number, their offsets, and 16 bytes at least. */
    private void strings() {
        strings("two" + SOUND, 2, 2, 16, 18, 20);
        strings("more than the shape needs" + SOUND, 1, 2, 16, 18, 20);
        strings("fewer than the shape needs", 100, 2, 16, 18, 20);
        strings("-1", 2, -1, 16, 18, 20);
        strings("more than there are offsets", 2, 1 << 28, 16, 18, 20);
        strings("far away", 2, 2, 1 << 28, (1 << 28) + 100, (1 << 28) + 200);
        strings("before the content", 2, 2, -(1 << 28), 18, 20);
        strings("of a negative size", 2, 2, 18, 16, 20);
        strings("that end beyond the content", 2, 2, 16, 18, 1 << 28);
    }

    private void strings(String name, int elements, int... numbers) {
        Case c = new Case();
        ByteBuffer content = ByteBuffer.allocate(20).order(ByteOrder.LITTLE_ENDIAN);
        content.asIntBuffer().put(numbers);
        Form form = Form.of(ElementType.STRING, elements);
        int text = c.model.constant(form, content);
        c.data(floats(1));
        files.add(
                c.end(
                        "of strings, " + name,
                        "EQUAL",
                        options("EqualOptions"),
                        Form.of(ElementType.BOOL, elements),
                        text,
                        text));
    }

    /** Matrices in which a diagonal replaces another one. */
    private void diagonals() {
        setDiagonal(SOUND, floats(4, 2, 3), List.of(4, 2, 3), floats(4, 2));
        setDiagonal(SOUND, floats(1, 3, 2), List.of(2, 3, 2), floats(2, 2));
        setDiagonal("", floats(1_000_000, 1, 1), List.of(1_000_000, 1, 1), floats(1));
        setDiagonal("", floats(1, 2, 3), List.of(200_000, 2, 3), floats(1, 2));
        setDiagonal("", floats(2, 3), List.of(2, 3), ints(2));
        Form truths = Form.of(ElementType.BOOL, 64, 64);
        setDiagonal("", truths, truths.shape(), Form.of(ElementType.BOOL, 64));
        diagonal(SOUND, floats(2, 3), floats(2, 3, 3));
        Form row = Form.of(ElementType.BOOL, 64);
        diagonal("", row, row.shaped(List.of(64, 64)));
    }

    /** The matrices have another shape than in the file. */
    private void setDiagonal(String name, Form file, List<Integer> shape, Form diagonal) {
        Case c = new Case();
        int x = c.input(file, shape, CraftedFiles.random(file.shaped(shape)));
        int y = c.constant(diagonal);
        String title = file + " as " + shape + " with " + diagonal + name;
        files.add(c.end(title, "MATRIX_SET_DIAG", options("MatrixSetDiagOptions"), file, x, y));
    }

    private void diagonal(String name, Form row, Form result) {
        Case c = new Case();
        int x = c.data(row);
        files.add(c.end(row + name, "MATRIX_DIAG", options("MatrixDiagOptions"), result, x));
    }

    /** Constants of 2×4 elements, of which two are stored. */
    private void sparse() {
        int[] ends = {0, 1, 2};
        sparse("DENSIFY", SOUND, 2, sparsity(List.of(0, 1), ends, 1, 3));
        sparse("DENSIFY", " far away", 2, sparsity(List.of(0, 1), ends, 1, 1 << 28));
        sparse("DENSIFY", " before it", 2, sparsity(List.of(0, 1), ends, 1, -(1 << 28)));
        sparse("DENSIFY", " in long segments", 2, sparsity(List.of(0, 1), new int[] {0, FAR, FAR}));
        sparse("DENSIFY", " that are not stored", 1, sparsity(List.of(0, 1), ends, 1, 3));
        sparse("DENSIFY", " of no dimension", 2, sparsity(List.of(0, FAR), ends, 1, 3));
        sparse("NEG", " read as dense", 2, sparsity(List.of(0, 1), ends, 1, 3));
    }

    private void sparse(String operator, String name, int stored, FlatTable sparsity) {
        Case c = new Case();
        Form form = floats(2, 4);
        int constant = c.model.constant(form, sparsity, CraftedFiles.random(floats(stored)));
        int dense = c.model.operator(operator, Optional.empty(), form, constant);
        files.add(
                c.end(
                        operator + " of elements" + name,
                        "ADD",
                        options("AddOptions"),
                        form,
                        c.data(form),
                        dense));
    }

    /** Rows that list their columns: where each row's list ends, and the lists. */
    private static FlatTable sparsity(List<Integer> order, int[] ends, int... columns) {
        FlatTable rows = FlatTable.of("DimensionMetadata").with("dense_size", 2);
        FlatTable listed =
                FlatTable.of("DimensionMetadata")
                        .with("format", 1)
                        .with("array_segments", vector(ends))
                        .with("array_indices", vector(columns));
        return FlatTable.of("SparsityParameters")
                .with("traversal_order", ImmutableList.copyOf(order))
                .with("dim_metadata", ImmutableList.of(rows, listed));
    }

    private static FlatTable vector(int... values) {
        TfLiteBytes content = TfLiteBytes.of(CraftedFiles.content(values));
        return FlatTable.of("Int32Vector").with("values", content);
    }

    /** A filter in a format of groups of 4 rows and 16 columns, of which it has a part only. */
    private void shuffled() {
        Case c = new Case();
        Form bytes = Form.of(ElementType.UINT8, 1, 8).scaled(0.1f, 0);
        int x = c.data(bytes);
        int filter = c.constant(bytes.shaped(List.of(3, 8)));
        int bias = c.constant(ints(3).scaled(0.01f, 0));
        List<Form> results =
                List.of(
                        Form.of(ElementType.INT16, 1, 3).scaled(0.1f, 0),
                        Form.of(ElementType.UINT8, 8));
        FlatTable shuffled = options("FullyConnectedOptions", "weights_format", 1);
        files.add(
                c.end("of a shuffled part", "FULLY_CONNECTED", shuffled, results, x, filter, bias));
    }
}
