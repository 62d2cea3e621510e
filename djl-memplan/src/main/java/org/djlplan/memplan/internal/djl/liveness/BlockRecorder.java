package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.internal.NDArrayEx;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import ai.djl.training.ParameterServer;
import ai.djl.training.ParameterStore;
import java.util.Optional;

/** Records a pass of a block by running it once with stand-ins for all its arrays. */
final class BlockRecorder {

    /**
     * The outcome of a recorded pass.
     *
     * @param outputs the block's outputs, if they equal the outputs in DJL
     * @param plan the plan of such passes, if the recording is valid
     * @param flaw why there is no plan, or empty
     */
    record Outcome(Optional<NDList> outputs, Optional<ReplayPlan> plan, String flaw) {}

    private BlockRecorder() {}

    /**
     * Records a pass of a pure block, which is run once more if recording fails. Between the blocks
     * of a sequence, arrays are closed that no later block can need.
     */
    static Outcome record(Block block, ForwardPass pass) {
        return record(
                block,
                pass,
                true,
                (recorder, store, inputs) ->
                        block.getClass() == SequentialBlock.class
                                ? inSequence((SequentialBlock) block, recorder, store, inputs)
                                : pass.run(block, store, inputs));
    }

    private static NDList inSequence(
            SequentialBlock block, Recorder recorder, ParameterStore store, NDList inputs) {
        NDList past = new NDList();
        NDList current = inputs;
        for (Block child : block.getChildren().values()) {
            // DJL does not pass its parameters on here.
            current =
                    child.getClass() == SequentialBlock.class && !block.isReturnIntermediate()
                            ? inSequence((SequentialBlock) child, recorder, store, current)
                            : child.forward(store, current, false);
            past.addAll(current);
            recorder.closeAllBut(block.isReturnIntermediate() ? past : current);
        }
        return block.isReturnIntermediate() ? past : current;
    }

    /** Records the only run of a pass, with its side effects and exceptions. */
    static Outcome recordOnce(Block block, ForwardPass pass) {
        return record(
                block, pass, false, (recorder, store, inputs) -> pass.run(block, store, inputs));
    }

    /** A forward pass on stand-ins. */
    private interface StandInPass {
        NDList run(Recorder recorder, ParameterStore store, NDList inputs);
    }

    private static Outcome record(
            Block block, ForwardPass pass, boolean repeatable, StandInPass standInPass) {
        Recorder recorder = new Recorder(pass.inputs());
        ArrayProxies proxies = new ArrayProxies(recorder);
        RecordingStore store = new RecordingStore(pass.store(), proxies, recorder);
        NDList inputs = proxies.proxies(pass.inputs());
        Optional<NDList> outputs = Optional.empty();
        try {
            if (!repeatable) {
                ObjectWalk.walk(
                                block,
                                (place, held) ->
                                        held instanceof NDArray ? proxies.proxy(held) : held)
                        .ifPresent(recorder::spoil);
            }
            outputs =
                    Optional.ofNullable(
                            CreationScope.listen(
                                    recorder, () -> standInPass.run(recorder, store, inputs)));
            outputs.ifPresent(list -> list.replaceAll(a -> (NDArray) ArrayProxies.real(a)));
        } catch (RuntimeException e) {
            // The block may have cast a stand-in to the engine's class.
            boolean ours = e instanceof ClassCastException && !recorder.hasSideEffects();
            if (!repeatable && !ours) {
                throw e;
            }
            recorder.spoil(e.toString());
        } finally {
            try {
                if (!repeatable) {
                    ObjectWalk.walk(block, (place, held) -> release(held, recorder))
                            .ifPresent(recorder::spoil);
                }
            } finally {
                recorder.end();
                Replay.leave(recorder.created());
            }
        }
        // A scope of the block cannot distinguish a stand-in from an array, and closes it.
        if (outputs.isEmpty() || outputs.get().stream().anyMatch(NDArray::isReleased)) {
            return new Outcome(
                    Optional.empty(),
                    Optional.empty(),
                    recorder.flaw().orElse("its outputs are closed already"));
        }
        return new Outcome(
                outputs,
                recorder.flaw().isPresent()
                        ? Optional.empty()
                        : Optional.of(recorder.plan(outputs.get())),
                recorder.flaw().orElse(""));
    }

    private static Object release(Object held, Recorder recorder) {
        if (held instanceof RecordingStore store) {
            return store.real();
        }
        Object real = ArrayProxies.real(held);
        if (real instanceof NDArray array) {
            recorder.keep(array);
        } else if (real instanceof NDArrayEx methods) {
            recorder.keep(methods.getArray());
        }
        return real;
    }

    /** Provides stand-ins for the parameters of another store. */
    private static final class RecordingStore extends ParameterStore {

        private final ParameterStore real;
        private final ArrayProxies proxies;
        private final Recorder recorder;

        RecordingStore(ParameterStore real, ArrayProxies proxies, Recorder recorder) {
            super(real.getManager(), false);
            this.real = real;
            this.proxies = proxies;
            this.recorder = recorder;
        }

        /** Returns the store of the real parameters. */
        ParameterStore real() {
            return real;
        }

        @Override
        public NDArray getValue(Parameter parameter, Device device, boolean training) {
            NDArray value = real.getValue(parameter, device, training);
            return value == null || recorder.over() ? value : (NDArray) proxies.proxy(value);
        }

        @Override
        public NDManager getManager() {
            NDManager manager = real.getManager();
            return recorder.over() ? manager : (NDManager) proxies.proxy(manager);
        }

        @Override
        public void setParameterServer(ParameterServer server, Device[] devices) {
            real.setParameterServer(server, devices);
        }

        @Override
        public void updateAllParameters() {
            real.updateAllParameters();
        }

        @Override
        public void sync() {
            real.sync();
        }
    }
}
