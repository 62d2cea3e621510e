package org.djlplan.memplan.internal.runtime.tflite;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.djlplan.memplan.graph.Graph;
import org.junit.jupiter.api.Test;

class PlainInterpreterTest {

    private final FakeEngine engine = new FakeEngine();

    private PlainInterpreter interpreter(List<Integer> inputs) {
        Graph graph = FakeEngine.graph();
        return new PlainInterpreter(
                engine.open(EngineSession.Spec.stock(1)),
                new Graph(
                        graph.name(), graph.operators(), graph.tensors(), inputs, graph.outputs()));
    }

    @Test
    void resize_modelWithoutInputs_allocatesOnce() {
        try (PlainInterpreter interpreter = interpreter(List.of())) {
            interpreter.resize(List.of());
            interpreter.resize(List.of());

            assertEquals(FakeEngine.IN_FILE, engine.allocated);
            assertEquals(1, interpreter.run(List.of()).size());
        }
        assertEquals(0, engine.open.get());
    }

    @Test
    void resize_shapesOfTheLastTime_allocatesNothing() throws Exception {
        try (PlainInterpreter interpreter = interpreter(List.of(0))) {
            interpreter.allocate();
            interpreter.resize(FakeEngine.IN_FILE);
            interpreter.resize(FakeEngine.OTHER);
            interpreter.resize(FakeEngine.OTHER);

            assertEquals(List.of(List.of(1, 4), List.of(2, 4)), engine.allocated);
        }
    }
}
