package org.djlplan.memplan.internal.source.tflite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests validation of models and edited copies. {@code tflite/bad} has further invalid files. */
class TfLiteFileTest {

    private static final int INPUT = 0;
    private static final int MIDDLE = 1;
    private static final int OUTPUT = 2;
    private static final int STATE = 3;
    private static final int EMPTY = 4;

    private static TfLiteTensor tensor(Integer... shape) {
        return TfLiteTensor.plain(List.of(shape), TfLiteTensor.FLOAT32, 0, "");
    }

    private static TfLiteOperator operator(List<Integer> inputs, List<Integer> outputs) {
        return operator(inputs, outputs, List.of());
    }

    private static TfLiteOperator operator(
            List<Integer> inputs, List<Integer> outputs, List<Boolean> mutating) {
        return SampleModels.operator(0, inputs, outputs, Optional.empty(), mutating, List.of());
    }

    private static TfLiteFile model(TfLiteOperator... operators) {
        List<TfLiteTensor> tensors =
                List.of(
                        tensor(2),
                        tensor(2),
                        tensor(2),
                        SampleModels.state(List.of(2), ""),
                        tensor(0, 5));
        return SampleModels.file(
                List.of(TfLiteOperatorCode.builtin("ADD", 1)),
                List.of(TfLiteBytes.EMPTY),
                new TfLiteSubgraph(
                        "", tensors, List.of(INPUT), List.of(OUTPUT), List.of(operators)));
    }

    /** Returns two operators; the second reads the output of the first. */
    private static TfLiteFile chain(Integer... outputs) {
        return model(
                operator(List.of(INPUT, TfLiteOperator.ABSENT), List.of(MIDDLE)),
                operator(List.of(MIDDLE, INPUT), List.of(outputs)));
    }

    private static void assertInvalid(String path, String problem, TfLiteOperator... operators) {
        InvalidModelException e = assertThrows(InvalidModelException.class, () -> model(operators));
        assertEquals(path, e.path());
        assertEquals(problem, e.problem());
    }

    @Test
    void construct_operatorsInOrder_isAModel() {
        TfLiteFile model = chain(OUTPUT);
        assertEquals(List.of(INPUT), model.main().operators().get(0).presentInputs());
    }

    @Test
    void withOutputs_everyTensor_hasOtherOutputsOnly() {
        TfLiteFile model = chain(OUTPUT);
        TfLiteFile exposed = model.withOutputs(List.of(MIDDLE, OUTPUT));
        assertEquals(List.of(MIDDLE, OUTPUT), exposed.main().outputs());
        assertEquals(model, exposed.withOutputs(List.of(OUTPUT)));
    }

    @Test
    void withOperatorsApart_chain_everyOperatorReadsInputsAndWritesOutputs() {
        TfLiteFile model = chain(OUTPUT, TfLiteOperator.ABSENT);
        TfLiteSubgraph apart = model.withOperatorsApart().main();
        assertEquals(List.of(INPUT, MIDDLE), apart.inputs());
        assertEquals(List.of(5, 6), apart.outputs());
        assertEquals(List.of(5), apart.operators().get(0).outputs());
        assertEquals(List.of(6, TfLiteOperator.ABSENT), apart.operators().get(1).outputs());
        assertEquals(List.of(MIDDLE, INPUT), apart.operators().get(1).inputs());
        assertEquals(apart.tensors().get(OUTPUT), apart.tensors().get(6));
    }

    @Test
    void withOperators_secondOfTwo_readsWhatTheFirstWrites() {
        TfLiteFile model = chain(OUTPUT);
        TfLiteSubgraph second = model.withOperators(1, 2).main();
        assertEquals(List.of(INPUT, MIDDLE), second.inputs());
        assertEquals(List.of(OUTPUT), second.outputs());
        assertEquals(model.main().operators().subList(1, 2), second.operators());
        assertEquals(model.main().tensors().get(MIDDLE), second.tensors().get(MIDDLE));
        assertEquals(List.of(MIDDLE, OUTPUT), model.withOperators(0, 2).main().outputs());
    }

    @Test
    void construct_operatorsInTheWrongOrder_throws() {
        assertInvalid(
                "subgraphs[0].operators[0].inputs[1]",
                "tensor 1 is read before an operator writes it",
                operator(List.of(INPUT, MIDDLE), List.of(OUTPUT)),
                operator(List.of(INPUT), List.of(MIDDLE)));
    }

    @Test
    void construct_oneOperatorWritesATensorTwice_throws() {
        assertInvalid(
                "subgraphs[0].operators[0].outputs[1]",
                "tensor 2 has its content already",
                operator(List.of(INPUT), List.of(OUTPUT, OUTPUT)));
    }

    @Test
    void construct_stateReadFirstAndWrittenOften_isAModel() {
        TfLiteOperator step = operator(List.of(STATE), List.of(STATE));
        assertEquals(
                3,
                model(step, step, operator(List.of(STATE), List.of(OUTPUT)))
                        .main()
                        .operators()
                        .size());
    }

    @Test
    void construct_inputThatAnOperatorMutates_needsNoWriter() {
        assertEquals(
                List.of(true),
                model(operator(List.of(MIDDLE), List.of(OUTPUT), List.of(true)))
                        .main()
                        .operators()
                        .get(0)
                        .mutatingVariableInputs());
        assertInvalid(
                "subgraphs[0].operators[0].inputs[0]",
                "tensor 1 is read before an operator writes it",
                operator(List.of(MIDDLE), List.of(OUTPUT), List.of(false)));
    }

    @Test
    void construct_tensorWithoutElements_mayBeWrittenOnceOrNotAtAll() {
        TfLiteOperator reader = operator(List.of(INPUT, EMPTY), List.of(OUTPUT));
        TfLiteOperator writer = operator(List.of(INPUT), List.of(EMPTY));
        assertEquals(1, model(reader).main().operators().size());
        assertEquals(2, model(writer, reader).main().operators().size());
        assertInvalid(
                "subgraphs[0].operators[1].outputs[0]",
                "tensor 4 has its content already",
                writer,
                writer,
                reader);
    }

    /** One operator that calls graphs, by options that are stored or absent. */
    private static TfLiteSubgraph calling(FlatTable options) {
        TfLiteOperator call = TfLiteOperator.builtin(0, List.of(0), List.of(1), options);
        List<TfLiteTensor> tensors = List.of(tensor(2), tensor(2));
        return new TfLiteSubgraph("", tensors, List.of(0), List.of(1), List.of(call));
    }

    private static TfLiteFile called(FlatTable... options) {
        return new TfLiteFile(
                "",
                List.of(TfLiteOperatorCode.builtin("IF", 1)),
                Stream.of(options).map(TfLiteFileTest::calling).toList(),
                List.of(TfLiteBytes.EMPTY),
                List.of(),
                List.of(),
                List.of(
                        new TfLiteFile.Signature(
                                List.of(new TfLiteFile.Signature.Entry("x", 0)),
                                List.of(new TfLiteFile.Signature.Entry("y", 1)),
                                "second",
                                "",
                                1)),
                List.of());
    }

    private static FlatTable choice(int then, int otherwise) {
        return FlatTable.of("IfOptions")
                .with("then_subgraph_index", then)
                .with("else_subgraph_index", otherwise);
    }

    @Test
    void withFirst_anotherSubgraph_bothChangePlacesWhereverTheyAreNamed() {
        FlatTable first = FlatTable.of("CallOptions").with("subgraph", 2L);
        // An absent field is 0.
        FlatTable second = FlatTable.of("IfOptions").with("else_subgraph_index", 2);
        FlatTable third = FlatTable.of("AbsOptions");
        TfLiteFile model = called(first, second, third);

        TfLiteFile swapped = model.withFirst(1);

        assertEquals(
                List.of(calling(choice(1, 2)), calling(first), calling(third)),
                swapped.subgraphs());
        assertEquals(0, swapped.signatures().get(0).subgraph());
        assertEquals(called(first, choice(0, 2), third), swapped.withFirst(1));
    }

    @Test
    void construct_absentOptionThatCallsTheCaller_throws() {
        InvalidModelException e =
                assertThrows(
                        InvalidModelException.class,
                        () -> called(FlatTable.of("IfOptions"), choice(0, 0)));
        assertEquals("called in a circle", e.problem());
    }

    @Test
    void construct_compositeOfTheGraphThatItIsIn_throws() {
        InvalidModelException e =
                assertThrows(
                        InvalidModelException.class,
                        () -> called(FlatTable.of("StableHLOCompositeOptions")));
        assertEquals("called in a circle", e.problem());
    }

    @Test
    void sizeBytes_ofShapes_countsElementsOfKnownSize() {
        assertEquals(4, TfLiteTensor.plain(List.of(), TfLiteTensor.FLOAT32, 0, "").sizeBytes());
        assertEquals(12, TfLiteTensor.plain(List.of(3, 2), 7, 0, "").sizeBytes());
        assertEquals(0, TfLiteTensor.plain(List.of(3, -1), 7, 0, "").sizeBytes());
        assertEquals(0, TfLiteTensor.plain(List.of(3), 5, 0, "").sizeBytes());
        assertEquals(0, TfLiteTensor.plain(List.of(3), -7, 0, "").sizeBytes());
        int most = Integer.MAX_VALUE;
        assertEquals(0, TfLiteTensor.plain(List.of(most, most, most, 0), 0, 0, "").sizeBytes());
        assertThrows(
                ArithmeticException.class,
                () -> TfLiteTensor.plain(List.of(most, most, most), 0, 0, "").sizeBytes());
    }
}
