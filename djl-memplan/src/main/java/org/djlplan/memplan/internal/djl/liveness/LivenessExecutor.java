package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.LambdaBlock;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.config.Liveness;
import org.djlplan.memplan.internal.djl.purity.BlockCode;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the forward passes of an imperative block with intermediates closed after their last use. In
 * DJL every intermediate lives until the call's manager is closed, which Pisarchyk and Lee (2020,
 * section 3) call <em>naive</em>; no allocator can compensate for that.
 *
 * <p>Results equal DJL's bit by bit. If arrays were closed too early because a block did something
 * else than in the recording, the engine rejects them, and the pass is repeated as in DJL. Only the
 * passes of pure blocks are repeated. Other blocks run exactly once per call. Their arrays are
 * closed early only with {@link Liveness#OP}, and only while the block's state is the recorded one.
 * Inputs, outputs, and arrays that the block stores in its fields or attaches elsewhere are never
 * closed. Thread-safe.
 *
 * <p>The first pass should take no more memory than later ones. For pure blocks there are four
 * methods; the first that is possible is used. First: the pass follows a recording of other shapes,
 * which is checked less strictly. This may cost memory and a repetition, but never makes results
 * wrong. Second: a block of DJL's own classes is recorded in advance, on small inputs. Third: the
 * recorded pass closes arrays between child blocks. Fourth: it closes unreachable arrays.
 */
public final class LivenessExecutor {

    private static final Logger logger = LoggerFactory.getLogger(LivenessExecutor.class);

    private final Block block;
    private final Liveness asked;
    private final boolean guarded;
    private final LivenessCounters counters = new LivenessCounters();
    private final Repetition repetition;
    private final OpLevel operations;
    private final GuardedLevel guard;

    /** Whether a class or method that closing needs is missing. */
    private volatile boolean unlinked;

    /**
     * Creates an executor for a block.
     *
     * @param block created by DJL, not a wrapper
     * @param mode which intermediates to close early
     * @param code findings about the block
     */
    public LivenessExecutor(Block block, Liveness mode, BlockCode code) {
        this.block = block;
        this.asked = effective(mode, code);
        this.guarded = !code.pure();
        repetition = new Repetition(block, code);
        operations = new OpLevel(block, counters, repetition);
        guard = new GuardedLevel(block, code, counters, operations::fetchParameters);
    }

    /** Returns {@code OP} if intermediates of a block may be closed early, else {@code OFF}. */
    public static Liveness effective(Liveness asked, BlockCode code) {
        if (code.pure()) {
            return asked == Liveness.AUTO ? Liveness.OP : asked;
        }
        return asked == Liveness.OP && code.detour().isEmpty() ? Liveness.OP : Liveness.OFF;
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
            return closing(pass);
        } catch (LinkageError e) {
            return withoutClosing(pass, e);
        }
    }

    private NDList closing(ForwardPass pass) {
        if (!guarded) {
            return operations.forward(pass);
        }
        Rehearsal.once(pass.root());
        return guard.forward(pass, operations.state(ArrayTypes.of(pass.inputs())));
    }

    /**
     * Finishes a pass in which a class or method was missing, and closes nothing from now on. If
     * that happens in the forward of a stateful block, the error is rethrown; {@link Rehearsal} has
     * ensured that the cause is in the block itself.
     */
    private NDList withoutClosing(ForwardPass pass, LinkageError missing) {
        if (!pass.progress().begun()) {
            leave(missing);
            return pass.runStock(block);
        }
        if (!guarded) {
            // If DJL fails in the same way, the call is the cause.
            NDList outputs = repetition.run(pass, new IllegalStateException(missing));
            leave(missing);
            return outputs;
        }
        leave(missing);
        NDList outputs = pass.progress().outputs().orElseThrow(() -> missing);
        outputs.replaceAll(array -> (NDArray) ArrayProxies.real(array));
        if (outputs.stream().anyMatch(NDArray::isReleased)) {
            throw missing;
        }
        return outputs;
    }

    private synchronized void leave(LinkageError missing) {
        if (!unlinked) {
            unlinked = true;
            counters.fellBack();
            logger.warn(
                    "Intermediates of {} are left to DJL: {}",
                    block.getClass().getSimpleName(),
                    missing.toString());
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
        return mode() == Liveness.OP
                && operations.state(ImmutableList.copyOf(inputTypes)).wantsRecording();
    }

    /** Returns the types of arrays, which distinguish passes. */
    public static ImmutableList<ArrayType> types(NDList inputs) {
        return ArrayTypes.of(inputs);
    }

    /** Returns whether intermediates are closed now: {@code OP} or {@code OFF}. */
    public Liveness mode() {
        boolean exhausted = guarded ? guard.exhausted() : operations.exhausted();
        return unlinked || exhausted ? Liveness.OFF : asked;
    }

    /** Returns the number of arrays closed early so far. */
    public long closedEarly() {
        return counters.closedEarly();
    }

    /**
     * Returns the number of passes that diverged from the recording, and continued without closing.
     */
    public long divergences() {
        return counters.divergences();
    }

    /** Returns the number of passes that were repeated as in DJL, or could not be recorded. */
    public long fallbacks() {
        return counters.fallbacks();
    }

    /**
     * Runs a block of djl-plan twice, once recorded and once following the recording, before the
     * first stateful block of a user runs. A class or method that is missing in this version of
     * DJL, or in the application, is found here, and not in the middle of a forward pass that must
     * not run twice.
     */
    private static final class Rehearsal {

        private static volatile boolean done;

        private Rehearsal() {}

        /**
         * Does nothing if it was already done.
         *
         * @param root the manager of a call
         * @throws LinkageError if something is missing
         */
        static void once(NDManager root) {
            if (done) {
                return;
            }
            try (NDManager manager = root.newSubManager()) {
                run(manager);
            } catch (RuntimeException e) {
                // An engine's limitation will also show in the block's own pass.
                logger.debug("The rehearsal ended early", e);
            }
            done = true;
        }

        private static void run(NDManager manager) {
            Block block = new LambdaBlock(Rehearsal::pass);
            GuardedLevel level =
                    new GuardedLevel(block, BlockCode.UNREAD, new LivenessCounters(), pass -> true);
            TypeState state = new TypeState();
            NDList inputs = new NDList(manager.ones(new Shape(2)));
            for (int pass = 0; pass < 2; pass++) {
                NDList unused =
                        level.forward(
                                new ForwardPass(
                                        new ParameterStore(manager, false),
                                        inputs,
                                        Optional.empty()),
                                state);
            }
        }

        /** Calls methods of all kinds: of an array, with another array, of a list, of a manager. */
        private static NDList pass(NDList inputs) {
            NDArray x = inputs.head();
            NDArray sum = x.add(x.getManager().zeros(x.getShape(), DataType.FLOAT32));
            NDArray joined = sum.mul(2).concat(x);
            NDList halves = joined.split(2);
            return new NDList(halves.head().getNDArrayInternal().relu().addi(1));
        }
    }
}
