package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.internal.NDArrayEx;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.training.ParameterServer;
import ai.djl.training.ParameterStore;
import java.util.Optional;
import org.djlplan.memplan.internal.source.block.BlockRecording;

/** Records a pass of a block by running it once with stand-ins for all its arrays. */
final class BlockRecorder {

    /**
     * The outcome of a recorded pass.
     *
     * @param outputs the block's outputs, if they equal the outputs in DJL
     * @param recording the recording of the pass, if it is valid
     * @param unrepeatable whether the pass was stopped before a side effect
     * @param closed number of arrays closed early
     * @param flaw why there is no recording, or empty
     */
    record Outcome(
            Optional<NDList> outputs,
            Optional<BlockRecording> recording,
            boolean unrepeatable,
            int closed,
            String flaw) {}

    private BlockRecorder() {}

    /**
     * Records a pass that is run once more if recording fails. Arrays are closed as soon as they
     * are known to be unused, so the pass needs less memory than in DJL.
     */
    static Outcome record(Block block, ForwardPass pass) {
        return record(
                pass,
                block,
                true,
                (store, recorder, inputs) ->
                        TreeNode.of(block)
                                .run(
                                        new TreePass(store, recorder),
                                        inputs,
                                        Needed.nothing(),
                                        pass.params()));
    }

    /** Records the only run of a pass, with its side effects and exceptions. */
    static Outcome recordOnce(Block block, ForwardPass pass) {
        return record(
                pass, block, false, (store, recorder, inputs) -> pass.run(block, store, inputs));
    }

    /** A forward pass on stand-ins. */
    private interface StandInPass {
        NDList run(ParameterStore store, Recorder recorder, NDList inputs);
    }

    private static Outcome record(
            ForwardPass pass, Block block, boolean repeatable, StandInPass standInPass) {
        Recorder recorder = new Recorder(pass.inputs(), repeatable);
        ArrayProxies proxies = new ArrayProxies(recorder);
        RecordingStore store = new RecordingStore(pass.store(), proxies, recorder);
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
                                    recorder,
                                    () ->
                                            standInPass.run(
                                                    store,
                                                    recorder,
                                                    proxies.proxies(pass.inputs()))));
            outputs.ifPresent(list -> list.replaceAll(a -> (NDArray) ArrayProxies.real(a)));
        } catch (Recorder.UnrepeatableException e) {
            recorder.spoil(e.getMessage());
        } catch (RuntimeException e) {
            // The block may have cast a stand-in to the engine's class.
            boolean ours = e instanceof ClassCastException && !recorder.unrepeatable();
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
                Replay.leave(recorder.createdSince(0));
            }
        }
        // A scope of the block cannot distinguish a stand-in from an array, and closes it.
        boolean intact =
                outputs.isPresent() && outputs.get().stream().noneMatch(NDArray::isReleased);
        if (!intact || (repeatable && recorder.unrepeatable())) {
            return new Outcome(
                    Optional.empty(),
                    Optional.empty(),
                    recorder.unrepeatable(),
                    recorder.closed(),
                    recorder.flaw().orElse("its outputs are closed already"));
        }
        Optional<BlockRecording> recording =
                recorder.flaw().isPresent()
                        ? Optional.empty()
                        : Optional.of(recorder.recording(outputs.get()));
        return new Outcome(
                outputs,
                recording,
                recorder.unrepeatable(),
                recorder.closed(),
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
