package org.djlplan.memplan.internal.serving;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.List;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.plan.portfolio.MemoryPlanner;
import org.djlplan.memplan.internal.runtime.tflite.InputShapes;
import org.djlplan.memplan.internal.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;

/** Plans a tiny model, to load the classes that the first TensorFlow Lite model needs. */
public final class TfLiteRehearsal {

    private static final String MODEL = "warm_up.tflite";

    private TfLiteRehearsal() {}

    /** Needs no engine. */
    public static void run() throws IOException, InterruptedException {
        Graph graph = TfLiteGraphs.toGraph(TfLiteReader.read(model(), MODEL), MODEL);
        MemoryPlanner.plan(graph);
        ThreadGovernor.warmUp();
        List<List<Integer>> unused =
                InputShapes.effective(List.of(), List.of(), List.of(), List.of(), List.of());
    }

    private static ByteBuffer model() throws IOException {
        try (InputStream in = TfLiteRehearsal.class.getResourceAsStream(MODEL)) {
            return ByteBuffer.wrap(in.readAllBytes());
        }
    }
}
