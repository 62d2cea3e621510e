package org.djlplan.integration.tflite.hostile;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.source.tflite.FlatTable;
import org.djlplan.memplan.internal.source.tflite.TfLiteBytes;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperatorCode;
import org.djlplan.thirdparty.guava.primitives.Ints;

/**
 * Makes {@link CraftedFile}s without a sound answer, which must be refused before the engine runs,
 * and beside them similar files that must run.
 */
final class RefusedFiles extends OperatorFiles {

    /** The end of the names of the files that must run. */
    static final String SOUND = " (sound)";

    private static final int FAR = 1 << 20;
    private static final int STABLEHLO_CASE = 209;

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
        return made.files;
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
        Form places = ints(2, 2);
        Form shape = ints(sizes.size());
        ByteBuffer[] values = {content(Ints.toArray(at)), content(Ints.toArray(sizes))};
        add(
                (constant ? "constant " : "input ") + at + " of " + sizes + name,
                "EMBEDDING_LOOKUP_SPARSE",
                options("EmbeddingLookupSparseOptions"),
                floats(2, 3),
                input(ints(2), List.of(2), content(0, 1)),
                constant ? constant(places, values[0]) : input(places, places.shape(), values[0]),
                constant ? constant(shape, values[1]) : input(shape, shape.shape(), values[1]),
                constant(floats(2)),
                constant(table));
    }

    /** Calls whose options are left out or another operator's: they call the graph they are in. */
    private void calls() {
        Form truth = Form.of(ElementType.BOOL);
        for (FlatTable none : new FlatTable[] {null, options("AddOptions")}) {
            String name = none == null ? "without options" : "with " + none.type();
            Operand condition = constant(truth, ByteBuffer.allocate(1));
            add(name, "IF", none, floats(1, 8), condition, data(floats(1, 8)));
            add(name, "WHILE", none, truth, data(truth));
        }
        CraftedFile file = new CraftedFile("STABLEHLO_CASE");
        int result = file.model().tensor(floats(1, 8));
        int choice = file.model().ints(0);
        int x = data(floats(1, 8)).applyAsInt(file);
        TfLiteOperatorCode branches = new TfLiteOperatorCode(STABLEHLO_CASE, "", 1);
        file.model().operator(branches, Optional.empty(), List.of(result), choice, x);
        file.model().output(result);
        files.add(file);
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
        ByteBuffer content = ByteBuffer.allocate(20).order(ByteOrder.LITTLE_ENDIAN);
        content.asIntBuffer().put(numbers);
        Operand text = constant(Form.of(ElementType.STRING, elements), content);
        Operand first = data(floats(1));
        Operand both =
                file -> {
                    int unused = first.applyAsInt(file);
                    return text.applyAsInt(file);
                };
        Form truths = Form.of(ElementType.BOOL, elements);
        add("of strings, " + name, "EQUAL", options("EqualOptions"), truths, both, text);
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
        Operand x = input(file, shape, random(file.shaped(shape)));
        FlatTable options = options("MatrixSetDiagOptions");
        String title = file + " as " + shape + " with " + diagonal + name;
        add(title, "MATRIX_SET_DIAG", options, file, x, constant(diagonal));
    }

    private void diagonal(String name, Form row, Form result) {
        add(row + name, "MATRIX_DIAG", options("MatrixDiagOptions"), result, data(row));
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
        Form form = floats(2, 4);
        Operand dense =
                file -> {
                    int constant = file.model().constant(form, sparsity, random(floats(stored)));
                    return file.model().operator(operator, Optional.empty(), form, constant);
                };
        String title = operator + " of elements" + name;
        add(title, "ADD", options("AddOptions"), form, data(form), dense);
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
                .with("traversal_order", order)
                .with("dim_metadata", List.of(rows, listed));
    }

    private static FlatTable vector(int... values) {
        TfLiteBytes content = TfLiteBytes.of(content(values));
        return FlatTable.of("Int32Vector").with("values", content);
    }

    /** A filter in a format of groups of 4 rows and 16 columns, of which it has a part only. */
    private void shuffled() {
        Form bytes = Form.of(ElementType.UINT8, 1, 8).scaled(0.1f, 0);
        FlatTable shuffled = options("FullyConnectedOptions", "weights_format", 1);
        add(
                "of a shuffled part",
                "FULLY_CONNECTED",
                shuffled,
                List.of(
                        result(Form.of(ElementType.INT16, 1, 3).scaled(0.1f, 0)),
                        result(Form.of(ElementType.UINT8, 8))),
                data(bytes),
                constant(bytes.shaped(List.of(3, 8))),
                constant(ints(3).scaled(0.01f, 0)));
    }
}
