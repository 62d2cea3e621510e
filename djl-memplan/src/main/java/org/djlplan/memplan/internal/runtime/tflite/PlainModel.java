package org.djlplan.memplan.internal.runtime.tflite;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * A model that runs in the engine's own memory. If predictions overlap, it builds more
 * interpreters, up to one per processor; a model that keeps state between predictions has only one
 * interpreter. Thread-safe. It may be closed twice, and while predictions run; these predictions
 * end normally.
 */
public final class PlainModel implements AutoCloseable {

    private final OpenModel model;
    private final int threads;
    private final List<List<Integer>> shapesInFile;
    private final ImmutableList<TensorInfo> inputs;
    private final ImmutableList<TensorInfo> outputs;
    private final Semaphore permits;
    private final Deque<PlainInterpreter> idle = new ArrayDeque<>();
    private int running;
    private boolean closed;

    private PlainModel(OpenModel model, int threads) throws UnplannableException {
        this.model = model;
        this.threads = threads;
        Optional<PlainInterpreter> first = first();
        inputs = first.map(PlainInterpreter::inputs).orElseGet(model::inputsBeforeShapes);
        outputs = first.map(PlainInterpreter::outputs).orElseGet(model::outputsBeforeShapes);
        shapesInFile =
                model.graph().inputs().stream()
                        .map(id -> model.graph().tensors().get(id).shape())
                        .toList();
        permits = new Semaphore(model.keepsState() ? 1 : Machine.cores(), true);
        first.ifPresent(idle::push);
    }

    /** Empty if the shapes in the file are placeholders, with which nothing can be allocated. */
    private Optional<PlainInterpreter> first() throws UnplannableException {
        PlainInterpreter built = build();
        try {
            built.allocate();
            return Optional.of(built);
        } catch (UnplannableException e) {
            if (model.leavesDimensions()) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /**
     * Opens a model and builds its first interpreter.
     *
     * @param threads number of threads of an interpreter, −1 for the engine's default
     * @throws IOException if the file cannot be read or is damaged
     * @throws UnplannableException if the engine cannot run it; the message says why
     */
    public static PlainModel open(Path file, int threads) throws IOException, UnplannableException {
        OpenModel model = OpenModel.of(file);
        try {
            return new PlainModel(model, threads);
        } catch (UnplannableException | RuntimeException | Error e) {
            model.close();
            throw e;
        }
    }

    private PlainInterpreter build() throws UnplannableException {
        EngineSession session = model.sessions().open(EngineSession.Spec.stock(threads));
        return new PlainInterpreter(session, model.graph());
    }

    /** Returns the inputs with the shapes in the file; with −1 where those are placeholders. */
    public ImmutableList<TensorInfo> inputs() {
        return inputs;
    }

    /** Returns the outputs for the shapes in the file, so far as they are known before a run. */
    public ImmutableList<TensorInfo> outputs() {
        return outputs;
    }

    /**
     * Predicts once.
     *
     * @param values one buffer per input, in native byte order; its remaining bytes are the value
     * @param shapes the shapes of the inputs, as {@link InputShapes#effective} allows
     * @return one value per output, in separate memory
     * @throws IllegalArgumentException if a value cannot be that of its input
     * @throws IllegalStateException if the model is closed, its file was changed in place, or the
     *     engine fails
     */
    public List<OutputTensor> run(List<ByteBuffer> values, List<List<Integer>> shapes) {
        List<List<Integer>> effective =
                InputShapes.effective(
                        inputs, shapesInFile, model.inputSignatures(), values, shapes);
        permits.acquireUninterruptibly();
        try {
            Optional<PlainInterpreter> found = enter();
            Optional<PlainInterpreter> sound = Optional.empty();
            try {
                PlainInterpreter interpreter = found.isPresent() ? found.get() : build();
                found = Optional.of(interpreter);
                interpreter.resize(effective);
                if (model.keepsState()) {
                    // As in the stock engine, a prediction that fails does not end the state.
                    sound = found;
                }
                List<OutputTensor> results = interpreter.run(values);
                sound = found;
                return results;
            } catch (UnplannableException e) {
                throw new IllegalStateException(model.file() + ": " + e.getMessage(), e);
            } finally {
                if (sound.isEmpty()) {
                    found.ifPresent(PlainInterpreter::close);
                }
                leave(sound);
            }
        } finally {
            permits.release();
        }
    }

    /** Begins a prediction; empty if an interpreter must be built for it. */
    private synchronized Optional<PlainInterpreter> enter() {
        checkState(!closed, "the model is closed");
        checkState(
                model.intact(),
                "%s was changed in place after it was loaded: load the model again",
                model.file());
        running++;
        return Optional.ofNullable(idle.poll());
    }

    private synchronized void leave(Optional<PlainInterpreter> interpreter) {
        running--;
        interpreter.ifPresent(idle::push);
        freeIfUnused();
    }

    private void freeIfUnused() {
        if (closed && running == 0) {
            idle.forEach(PlainInterpreter::close);
            idle.clear();
            model.close();
        }
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            freeIfUnused();
        }
    }
}
