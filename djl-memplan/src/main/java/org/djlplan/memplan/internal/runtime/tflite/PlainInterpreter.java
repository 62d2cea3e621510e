package org.djlplan.memplan.internal.runtime.tflite;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.runtime.tflite.EngineSession.Allocation;
import org.djlplan.memplan.internal.runtime.tflite.EngineSession.LiveTensor;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** An interpreter of the engine in the engine's own memory. Not thread-safe. */
final class PlainInterpreter implements AutoCloseable {

    private final EngineSession session;
    private final Graph file;

    /** Separate from the shapes, because a model without inputs has none. */
    private boolean allocated;

    private List<List<Integer>> shapes = List.of();
    private SessionTensors io;

    /**
     * Whether sizes become known only while it runs; then any tensor may have moved after a run.
     */
    private boolean dynamic;

    /** Anything may lie elsewhere since a prediction that failed. */
    private boolean moved;

    /**
     * Creates an interpreter that is allocated when its shapes are known.
     *
     * @param session one of {@link EngineSession.Spec#stock}
     * @param file the graph in the file
     */
    PlainInterpreter(EngineSession session, Graph file) {
        this.session = session;
        this.file = file;
    }

    /**
     * Allocates it for the shapes in the file. If that fails, the session is closed.
     *
     * @throws UnplannableException if the engine cannot prepare the model
     */
    void allocate() throws UnplannableException {
        try {
            session.allocate();
            look();
            allocated = true;
        } catch (RuntimeException | Error e) {
            session.close();
            if (e instanceof IllegalStateException) {
                throw new UnplannableException(e.getMessage());
            }
            throw e;
        }
        shapes = io.inputInfos().stream().<List<Integer>>map(TensorInfo::shape).toList();
    }

    /** Finds the inputs and outputs, which move with every allocation. */
    private void look() {
        List<LiveTensor> tensors = session.tensors();
        io = new SessionTensors(file, tensors, output -> 0);
        dynamic = tensors.stream().anyMatch(t -> t.allocation() == Allocation.DYNAMIC);
        moved = false;
    }

    ImmutableList<TensorInfo> inputs() {
        return io.inputInfos();
    }

    ImmutableList<TensorInfo> outputs() {
        return io.outputInfos();
    }

    /**
     * Allocates it for inputs of these shapes, unless it is. If that fails, it is only good for
     * closing.
     *
     * @throws IllegalStateException if the engine fails
     */
    void resize(List<List<Integer>> wanted) {
        if (!allocated || !shapes.equals(wanted)) {
            for (int i = 0; i < wanted.size(); i++) {
                session.resize(i, wanted.get(i));
            }
            session.allocate();
            look();
            allocated = true;
            shapes = wanted;
        }
    }

    /**
     * Predicts once. If that fails, it can predict again.
     *
     * @param values the inputs, as long as the shapes for which it is allocated say
     * @throws IllegalStateException if the engine fails
     */
    List<OutputTensor> run(List<ByteBuffer> values) {
        if (moved) {
            look();
        }
        for (int i = 0; i < values.size(); i++) {
            if (io.inputInfos().get(i).type() == ElementType.STRING) {
                byte[] strings = new byte[values.get(i).remaining()];
                values.get(i).duplicate().get(strings);
                session.fill(i, strings);
            } else {
                io.fill(i, values.get(i));
            }
        }
        moved = dynamic;
        session.invokeStock();
        if (moved) {
            look();
        }
        return io.results(Optional.empty());
    }

    @Override
    public void close() {
        session.close();
    }
}
