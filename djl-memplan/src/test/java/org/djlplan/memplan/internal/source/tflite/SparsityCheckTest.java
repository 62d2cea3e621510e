package org.djlplan.memplan.internal.source.tflite;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class SparsityCheckTest {

    private static final List<Integer> MATRIX = List.of(2, 8);

    private static FlatTable dense(int size) {
        return FlatTable.of("DimensionMetadata").with("format", 0).with("dense_size", size);
    }

    private static FlatTable sparse(String vector, int bytes, int[] segments, int... indices) {
        return FlatTable.of("DimensionMetadata")
                .with("format", 1)
                .with("array_segments", vector(vector, bytes, segments))
                .with("array_indices", vector(vector, bytes, indices));
    }

    private static FlatTable sparse(int[] segments, int... indices) {
        return sparse("Int32Vector", Integer.BYTES, segments, indices);
    }

    private static FlatTable vector(String type, int bytes, int... numbers) {
        return FlatTable.of(type).with("values", SampleModels.littleEndian(bytes, numbers));
    }

    private static int[] ends(int... segments) {
        return segments;
    }

    /** A model with an operator that reads a constant, which is stored in so many bytes. */
    private static TfLiteFile model(
            String operator,
            List<Integer> shape,
            int bytes,
            List<Integer> order,
            List<Integer> blocked,
            FlatTable... levels) {
        FlatTable sparsity =
                FlatTable.of("SparsityParameters")
                        .with("traversal_order", ImmutableList.copyOf(order))
                        .with("block_map", ImmutableList.copyOf(blocked))
                        .with("dim_metadata", ImmutableList.copyOf(levels));
        TfLiteTensor constant = SampleModels.sparse(shape, 1, "filter", sparsity);
        TfLiteTensor image = TfLiteTensor.plain(List.of(1, 8), TfLiteTensor.FLOAT32, 0, "image");
        TfLiteTensor result = TfLiteTensor.plain(List.of(1, 2), TfLiteTensor.FLOAT32, 0, "result");
        List<TfLiteOperator> operators =
                List.of(
                        TfLiteOperator.builtin(
                                0, List.of(0, 1), List.of(2), FlatTable.of("AddOptions")));
        return SampleModels.file(
                List.of(TfLiteOperatorCode.builtin(operator, 1)),
                List.of(TfLiteBytes.EMPTY, TfLiteBytes.of(new byte[bytes])),
                new TfLiteSubgraph(
                        "main",
                        List.of(image, constant, result),
                        List.of(0),
                        List.of(2),
                        operators));
    }

    private static TfLiteFile matrix(List<Integer> order, FlatTable... levels) {
        return model("DENSIFY", MATRIX, 3 * Float.BYTES, order, List.of(), levels);
    }

    private static TfLiteFile rows(FlatTable columns) {
        return matrix(List.of(0, 1), dense(2), columns);
    }

    private static InvalidModelException refusal(Executable made) {
        InvalidModelException refused = assertThrows(InvalidModelException.class, made);
        assertTrue(refused.path().startsWith("subgraphs[0].tensors[1].sparsity"), refused.path());
        return refused;
    }

    @Test
    void check_indicesInsideTheTensor_areAccepted() {
        assertDoesNotThrow(() -> rows(sparse(ends(0, 1, 3), 7, 0, 1)));
        assertDoesNotThrow(() -> rows(sparse(ends(0, 0, 0))));
        assertDoesNotThrow(() -> rows(sparse("Uint8Vector", 1, ends(0, 1, 3), 7, 0, 1)));
        assertDoesNotThrow(() -> rows(sparse("Uint16Vector", 2, ends(0, 1, 3), 7, 0, 1)));
        assertDoesNotThrow(
                () ->
                        matrix(
                                List.of(1, 0),
                                dense(8),
                                sparse(ends(0, 1, 1, 1, 1, 1, 2, 3, 3), 0, 1, 0)));
        assertDoesNotThrow(
                () -> matrix(List.of(0, 1), sparse(ends(0, 1), 1), sparse(ends(0, 3), 1, 2, 3)));
    }

    @Test
    void check_blocksThatDivideTheTensor_areAccepted() {
        assertDoesNotThrow(() -> blocks(1, dense(4)));
        assertEquals("blocks of 3 of 8", refusal(() -> blocks(1, dense(3))).problem());
        assertEquals(
                "blocks of 0 of 8", refusal(() -> blocks(1, sparse(ends(0, 1, 1), 1))).problem());
        assertEquals("[2] for 2 dimensions", refusal(() -> blocks(2, dense(4))).problem());
    }

    /** A matrix of which one dimension is cut into blocks. */
    private static TfLiteFile blocks(int dimension, FlatTable block) {
        FlatTable columns = sparse(ends(0, 1, 1), 1);
        List<Integer> order = List.of(0, 1, 2);
        int bytes = 4 * Float.BYTES;
        List<Integer> blocked = List.of(dimension);
        return model("DENSIFY", MATRIX, bytes, order, blocked, dense(2), columns, block);
    }

    @Test
    void check_indexOutsideTheTensor_isRefused() {
        for (int index : new int[] {8, -1, 1 << 20}) {
            InvalidModelException refused = refusal(() -> rows(sparse(ends(0, 1, 3), 7, index, 1)));
            assertEquals("subgraphs[0].tensors[1].sparsity.dim_metadata[1]", refused.path());
            assertEquals("an index of " + index + " of 8", refused.problem());
        }
    }

    @Test
    void check_segmentsThatDoNotFitTheIndices_areRefused() {
        refusal(() -> rows(sparse(ends(0, 1, 4), 7, 0, 1)));
        refusal(() -> rows(sparse(ends(0, 1, 2), 7, 0, 1)));
        refusal(() -> rows(sparse(ends(0, 4, 3), 7, 0, 1)));
        refusal(() -> rows(sparse(ends(1, 1, 3), 7, 0, 1)));
        refusal(() -> rows(sparse(ends(0, 3), 7, 0, 1)));
        refusal(() -> rows(sparse(ends())));
    }

    @Test
    void check_levelsThatAreNotTheDimensions_areRefused() {
        FlatTable columns = sparse(ends(0, 1, 3), 7, 0, 1);
        refusal(() -> matrix(List.of(0), dense(2), columns));
        refusal(() -> matrix(List.of(0, 0), dense(2), columns));
        refusal(() -> matrix(List.of(0, 2), dense(2), columns));
        refusal(() -> matrix(List.of(0, -1), dense(2), columns));
        refusal(() -> matrix(List.of(0, 1), dense(2)));
        refusal(() -> matrix(List.of(0, 1), dense(3), columns));
        refusal(() -> matrix(List.of(0, 1), dense(2), columns.with("format", 2)));
        refusal(
                () ->
                        model(
                                "DENSIFY",
                                List.of(2, -1),
                                99,
                                List.of(0, 1),
                                List.of(),
                                dense(2),
                                columns));
    }

    @Test
    void check_moreElementsThanStored_areRefused() {
        assertEquals(
                "of 4 elements, the buffer holds 12 bytes",
                refusal(() -> rows(sparse(ends(0, 1, 4), 7, 0, 1, 2))).problem());
        refusal(() -> matrix(List.of(0, 1), dense(2), dense(8)));
    }

    @Test
    void check_sparseConstantOfAnOperatorThatReadsItAsDense_isRefused() {
        FlatTable columns = sparse(ends(0, 1, 3), 7, 0, 1);
        int bytes = 3 * Float.BYTES;
        TfLiteFile other = model("NEG", MATRIX, bytes, List.of(0, 1), List.of(), dense(2), columns);
        InvalidModelException refused =
                assertThrows(InvalidModelException.class, () -> OperatorRules.check(other));
        assertEquals("subgraphs[0].operators[0].inputs[1]", refused.path());
        TfLiteFile known =
                model(
                        "FULLY_CONNECTED",
                        MATRIX,
                        bytes,
                        List.of(0, 1),
                        List.of(),
                        dense(2),
                        columns);
        assertDoesNotThrow(() -> OperatorRules.check(known));
        TfLiteFile otherOrder =
                model(
                        "FULLY_CONNECTED",
                        MATRIX,
                        bytes,
                        List.of(1, 0),
                        List.of(),
                        dense(8),
                        sparse(ends(0, 1, 1, 1, 1, 1, 2, 3, 3), 0, 1, 0));
        assertThrows(InvalidModelException.class, () -> OperatorRules.check(otherOrder));
    }
}
