package org.djlplan.memplan.internal.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The engine's block of an ONNX model, with its session. It may be closed at any time: the session
 * is closed after the last pass that uses it. So the block belongs to a manager of its own, and not
 * to the model's, which is closed with the model.
 */
final class OrtBlock implements InferencePass, AutoCloseable {

    private final String model;
    private final Block block;
    private final NDManager manager;
    private int running;
    private boolean closed;

    /**
     * @param model its name
     * @param block the engine's block
     * @param manager of the block; closing it closes the block
     */
    OrtBlock(String model, Block block, NDManager manager) {
        this.model = model;
        this.block = block;
        this.manager = manager;
    }

    /** Returns the engine's block. */
    Block block() {
        return block;
    }

    /**
     * Runs it.
     *
     * @throws IllegalStateException if it is closed, or was closed before the outputs were ready
     */
    @Override
    public NDList forward(
            ParameterStore parameters, NDList inputs, Optional<PairList<String, Object>> params) {
        enter();
        List<Object> tensors = tensors(inputs);
        try {
            return block.forward(parameters, inputs, false, params.orElse(null));
        } catch (RuntimeException e) {
            throw isClosed() ? new IllegalStateException(model + " is closed", e) : e;
        } finally {
            Reference.reachabilityFence(tensors);
            leave();
        }
    }

    /**
     * Returns the engine's objects of inputs, which own buffers that the pass reads: an input that
     * is closed with the model no longer references them.
     */
    private static List<Object> tensors(NDList inputs) {
        List<Object> tensors = new ArrayList<>(inputs.size());
        for (NDArray input : inputs) {
            OrtAdapter.tensor(input).ifPresent(tensors::add);
        }
        return tensors;
    }

    private synchronized void enter() {
        if (closed) {
            throw new IllegalStateException(model + " is closed");
        }
        running++;
    }

    private synchronized void leave() {
        running--;
        if (closed && running == 0) {
            manager.close();
        }
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            if (running == 0) {
                manager.close();
            }
        }
    }
}
