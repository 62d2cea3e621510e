package org.djlplan.memplan.djl.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.internal.NDArrayEx;
import ai.djl.nn.Block;
import com.google.common.collect.ImmutableList;
import java.util.Collection;
import java.util.Optional;
import org.djlplan.memplan.source.block.BlockRecording;

/** Runs a block once with stand-ins for all its arrays, and so finds out what it does to them. */
final class BlockRecorder {

    /**
     * What came of it.
     *
     * @param outputs what the block returned, if that is what DJL would have returned
     * @param recording what it did, if that is known
     * @param unrepeatable whether it was stopped from changing what it was given
     * @param flaw why there is no recording, or empty
     */
    record Outcome(
            Optional<NDList> outputs,
            Optional<BlockRecording> recording,
            boolean unrepeatable,
            String flaw) {}

    private BlockRecorder() {}

    /** Records a pass that is run once more if that fails. */
    static Outcome record(Block block, ForwardPass pass) {
        return record(block, pass, ImmutableList.of(), true);
    }

    /**
     * Records a pass that is the only one: it does all that it does, and fails as it fails.
     *
     * @param statics classes in whose static fields the block may keep something
     */
    static Outcome recordOnce(Block block, ForwardPass pass, Collection<Class<?>> statics) {
        return record(block, pass, statics, false);
    }

    private static Outcome record(
            Block block, ForwardPass pass, Collection<Class<?>> statics, boolean repeatable) {
        Recorder recorder = new Recorder(pass.inputs(), repeatable);
        ArrayProxies proxies = new ArrayProxies(recorder);
        RecordingStore store = new RecordingStore(pass.store(), proxies, recorder);
        Optional<NDList> outputs = Optional.empty();
        try {
            outputs =
                    Optional.ofNullable(
                            CreationScope.listen(
                                    recorder,
                                    () -> pass.run(block, store, proxies.proxies(pass.inputs()))));
            outputs.ifPresent(list -> list.replaceAll(a -> (NDArray) ArrayProxies.real(a)));
        } catch (UnrepeatableException e) {
            recorder.spoil(e.getMessage());
        } catch (RuntimeException e) {
            if (!repeatable) {
                throw e;
            }
            recorder.spoil(e.toString());
        } finally {
            try {
                if (!HeldObjects.replaceAll(block, statics, held -> release(held, recorder))) {
                    recorder.spoil("it holds too many objects");
                }
            } finally {
                recorder.end();
                Replay.leave(recorder.created());
            }
        }
        // A scope of the block's own cannot tell a stand-in from another array, and closes it.
        boolean intact =
                outputs.isPresent() && outputs.get().stream().noneMatch(NDArray::isReleased);
        if (!intact || (repeatable && recorder.unrepeatable())) {
            return new Outcome(
                    Optional.empty(),
                    Optional.empty(),
                    recorder.unrepeatable(),
                    recorder.flaw().orElse("its outputs are closed already"));
        }
        Optional<BlockRecording> recording =
                recorder.flaw().isPresent()
                        ? Optional.empty()
                        : Optional.of(recorder.recording(outputs.get()));
        return new Outcome(outputs, recording, recorder.unrepeatable(), recorder.flaw().orElse(""));
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
}
