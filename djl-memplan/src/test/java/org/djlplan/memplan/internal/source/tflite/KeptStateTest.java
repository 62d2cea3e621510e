package org.djlplan.memplan.internal.source.tflite;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class KeptStateTest {

    private static final List<String> TYPES =
            List.of(
                    "ADD",
                    "IF",
                    "CALL_ONCE",
                    "READ_VARIABLE",
                    "ASSIGN_VARIABLE",
                    "HASHTABLE_IMPORT");

    private static TfLiteOperator operator(String type, Optional<FlatTable> options) {
        return operator(type, options, List.of());
    }

    private static TfLiteOperator operator(
            String type, Optional<FlatTable> options, List<Boolean> mutating) {
        return SampleModels.operator(
                TYPES.indexOf(type), List.of(0), List.of(), options, mutating, List.of());
    }

    private static TfLiteOperator operator(String type) {
        return operator(type, Optional.empty());
    }

    private static TfLiteOperator branches(int then, int otherwise) {
        return operator(
                "IF",
                Optional.of(
                        FlatTable.of("IfOptions")
                                .with("then_subgraph_index", then)
                                .with("else_subgraph_index", otherwise)));
    }

    private static TfLiteOperator callOnce(int graph) {
        return operator(
                "CALL_ONCE",
                Optional.of(FlatTable.of("CallOnceOptions").with("init_subgraph_index", graph)));
    }

    /** A graph of an input, which is its output, and perhaps a variable tensor. */
    private static TfLiteSubgraph graph(boolean variable, TfLiteOperator... operators) {
        TfLiteTensor input = TfLiteTensor.plain(List.of(2), TfLiteTensor.FLOAT32, 0, "x");
        TfLiteTensor other = variable ? SampleModels.state(List.of(2), "") : input;
        return new TfLiteSubgraph(
                "", List.of(input, other), List.of(0), List.of(0), List.of(operators));
    }

    private static boolean keepsState(TfLiteSubgraph... graphs) {
        List<TfLiteOperatorCode> codes =
                TYPES.stream().map(type -> TfLiteOperatorCode.builtin(type, 1)).toList();
        return SampleModels.file(codes, List.of(TfLiteBytes.EMPTY), graphs).keepsState();
    }

    @Test
    void keepsState_variableTensor_isTrue() {
        assertTrue(keepsState(graph(true, operator("ADD"))));
        assertFalse(keepsState(graph(false, operator("ADD"))));
    }

    /** As older files mark it. */
    @Test
    void keepsState_inputThatAnOperatorMutates_isTrue() {
        assertTrue(keepsState(graph(false, operator("ADD", Optional.empty(), List.of(true)))));
        assertFalse(keepsState(graph(false, operator("ADD", Optional.empty(), List.of(false)))));
    }

    @Test
    void keepsState_assignedVariable_isTrue() {
        assertTrue(keepsState(graph(false, operator("ASSIGN_VARIABLE"))));
    }

    /** What it reads is the same in every interpreter. */
    @Test
    void keepsState_variableThatIsOnlyReadAndTable_isFalse() {
        assertFalse(
                keepsState(graph(false, operator("READ_VARIABLE"), operator("HASHTABLE_IMPORT"))));
    }

    @Test
    void keepsState_calledGraph_countsAsTheModelItself() {
        TfLiteSubgraph none = graph(false, operator("ADD"));
        TfLiteSubgraph main = graph(false, branches(1, 2));
        assertFalse(keepsState(main, none, none));
        assertTrue(keepsState(main, none, graph(true)));
        assertTrue(keepsState(main, graph(false, operator("ASSIGN_VARIABLE")), none));
        assertTrue(keepsState(main, none, graph(false, branches(3, 3)), graph(true)));
    }

    @Test
    void keepsState_graphThatNothingCalls_isFalse() {
        assertFalse(keepsState(graph(false, operator("ADD")), graph(true)));
    }

    @Test
    void keepsState_graphThatRunsOnce_countsOnlyIfItIsAlsoCalledOtherwise() {
        TfLiteSubgraph once = graph(true, operator("ASSIGN_VARIABLE"));
        assertFalse(keepsState(graph(false, callOnce(1)), once));
        assertTrue(keepsState(graph(false, callOnce(1), branches(1, 2)), once, graph(false)));
    }
}
