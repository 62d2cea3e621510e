package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDList;
import ai.djl.nn.Block;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.config.Liveness;
import org.djlplan.memplan.internal.config.OptionKey;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Runs the forward passes of an imperative block with intermediates closed after their last use. In
 * DJL every intermediate lives until the call's manager is closed, which Pisarchyk and Lee (2020,
 * section 3) call <em>naive</em>; no allocator can compensate for that.
 *
 * <p>Results equal DJL's bit by bit. If arrays were closed too early because a block did something
 * else than in the recording, the engine rejects them, and the pass is repeated as in DJL. Only the
 * passes of DJL's own blocks are repeated. Other blocks run exactly once per call. Their arrays are
 * closed early only with {@link Liveness#OP}, and only while the block's state is the recorded one.
 * Inputs, outputs, and arrays that the block stores in its fields or attaches elsewhere are never
 * closed. Thread-safe.
 *
 * <p>The first pass should take no more memory than later ones. So a pass of DJL's own blocks
 * follows a recording of other shapes, which is checked less strictly: this may cost memory and a
 * repetition, but never makes results wrong. If there is none, the block is recorded in advance, on
 * small inputs. If it does not accept these, the recorded pass closes arrays between the blocks of
 * a sequence.
 */
public final class LivenessExecutor {

    private static final String LIVENESS = OptionKey.LIVENESS.key();

    private final Block block;
    private final boolean guarded;
    private final LivenessStatus status;
    private final OpLevel operations;
    private final GuardedLevel guard;

    /**
     * Creates an executor for a block.
     *
     * @param block created by DJL, not a wrapper
     * @param mode which intermediates to close early
     * @param foreign the result of {@link DjlClasses#foreignCode}
     */
    public LivenessExecutor(Block block, Liveness mode, Optional<String> foreign) {
        this.block = block;
        guarded = foreign.isPresent();
        status = new LivenessStatus(block, obstacle(block, mode, foreign));
        operations = new OpLevel(block, status);
        guard = new GuardedLevel(block, status, operations::fetchParameters);
    }

    private static Optional<String> obstacle(Block block, Liveness mode, Optional<String> foreign) {
        if (mode == Liveness.OFF) {
            return Optional.of(LIVENESS + "=off");
        }
        if (!CreationScope.available()) {
            return Optional.of("this version of DJL does not report new arrays");
        }
        if (foreign.isEmpty()) {
            return Optional.empty();
        }
        return mode == Liveness.AUTO
                ? Optional.of(
                        foreign.get() + "; " + LIVENESS + "=op closes them after their last use")
                : BlockState.of(block).unseen();
    }

    /** Returns whether intermediates are closed early, and if not, why. */
    public LivenessStatus status() {
        return status;
    }

    /**
     * Runs one forward pass for inference.
     *
     * @param store of the parameters
     * @param inputs remain unchanged and open
     * @param params DJL's optional parameters, possibly null as in {@link Block#forward}
     * @return the block's outputs, attached as the block attached them
     */
    public NDList forward(ParameterStore store, NDList inputs, PairList<String, Object> params) {
        ForwardPass pass = new ForwardPass(store, inputs, Optional.ofNullable(params));
        if (mode() == Liveness.OFF || !pass.tractable()) {
            return block.forward(store, inputs, false, params);
        }
        try {
            return guarded
                    ? guard.forward(pass, operations.state(ArrayTypes.of(pass.inputs())))
                    : operations.forward(pass);
        } catch (LinkageError missing) {
            status.end(missing.toString());
            if (guarded && pass.hasBegun()) {
                throw missing;
            }
            // If DJL fails in the same way, the call is the cause.
            return pass.hasBegun()
                    ? operations.repeat(pass, new IllegalStateException(missing))
                    : pass.runStock(block);
        }
    }

    /**
     * Prepares for a pass: the first pass for inputs of its types can follow a recording of other
     * shapes. A block of DJL's own classes is run on small inputs of zeros here, if it has no such
     * recording. The arguments are those of {@link #forward}, which also does this.
     */
    public void prepare(ParameterStore store, NDList inputs, PairList<String, Object> params) {
        ForwardPass pass = new ForwardPass(store, inputs, Optional.ofNullable(params));
        if (mode() == Liveness.OP && !guarded && pass.tractable()) {
            operations.prepare(pass);
        }
    }

    /** Returns whether the next pass with inputs of these types is to be recorded. */
    public boolean wantsRecording(List<ArrayType> inputTypes) {
        return mode() == Liveness.OP && operations.wantsRecording(ImmutableList.copyOf(inputTypes));
    }

    /** Returns whether intermediates are closed now: {@code OP} or {@code OFF}. */
    public Liveness mode() {
        return status.end().isPresent() ? Liveness.OFF : Liveness.OP;
    }
}
