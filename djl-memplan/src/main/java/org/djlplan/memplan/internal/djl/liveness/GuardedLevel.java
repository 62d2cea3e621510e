package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDList;
import ai.djl.nn.Block;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.djlplan.thirdparty.guava.base.Throwables;

/**
 * Closes arrays after the last operation that uses them, in a user's block, whose forward pass
 * therefore runs exactly once per prediction. Thread-safe; one pass at a time is recorded or
 * follows a recording, others run as in DJL.
 *
 * <p>A pass cannot be repeated after an array was closed too early. So a pass is recorded only if
 * the block's state did not change in the pass before, and a recording is used only while the state
 * is the one in which it was made. It is assumed that the operations of a pass depend on nothing
 * but the types of the inputs and this state. The arrays in the block's fields are checked before
 * each closing.
 */
final class GuardedLevel {

    private static final long LOCK_WAIT_MILLIS = 100;
    private static final int MOST_CHANGES = 6;

    private final Block block;
    private final LivenessStatus status;
    private final Predicate<ForwardPass> fetchParameters;
    private final ReentrantLock lock = new ReentrantLock();

    /** The state before the last pass. */
    private Optional<BlockState> last = Optional.empty();

    /** The number of passes since a pass that closed arrays. */
    private int changes;

    /**
     * @param fetchParameters makes the store create its copies; returns false if that failed
     */
    GuardedLevel(Block block, LivenessStatus status, Predicate<ForwardPass> fetchParameters) {
        this.block = block;
        this.status = status;
        this.fetchParameters = fetchParameters;
    }

    /** Returns the exception for a pass that cannot be finished. */
    static IllegalStateException tooEarly(Block block, RuntimeException failure) {
        return new IllegalStateException(
                "djl-plan closed an array of "
                        + block.getClass().getName()
                        + " too early, and must not run its forward pass twice; nothing of it is"
                        + " closed early from now on. memplan.liveness=off avoids this",
                failure);
    }

    NDList forward(ForwardPass pass, TypeState state) {
        if (lock.isHeldByCurrentThread() || !tryLock()) {
            return pass.runStock(block);
        }
        try {
            return forwardLocked(pass, state);
        } finally {
            lock.unlock();
        }
    }

    private boolean tryLock() {
        try {
            return lock.tryLock(LOCK_WAIT_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private NDList forwardLocked(ForwardPass pass, TypeState state) {
        Optional<ReplayPlan> plan = state.plan();
        if ((plan.isEmpty() && !state.wantsRecording()) || !fetchParameters.test(pass)) {
            return pass.runStock(block);
        }
        BlockState now = BlockState.of(block);
        if (now.unseen().isPresent()) {
            status.end(now.unseen().get());
            return pass.runStock(block);
        }
        Optional<BlockState> before = last;
        last = Optional.of(now);
        if (plan.isEmpty() && before.isEmpty()) {
            return pass.runStock(block);
        }
        Optional<String> changed =
                (plan.isEmpty() ? before : state.recordedIn()).flatMap(now::difference);
        if (changed.isEmpty()) {
            return plan.isEmpty() ? record(pass, state, now) : replay(pass, state, plan.get());
        }
        plan.ifPresent(outdated -> state.replayed(outdated, true));
        changes++;
        if (changes >= MOST_CHANGES) {
            status.end(changed.get() + " changes from pass to pass");
        }
        return pass.runStock(block);
    }

    private NDList record(ForwardPass pass, TypeState state, BlockState before) {
        BlockRecorder.Outcome outcome = BlockRecorder.recordOnce(block, pass);
        if (outcome.outputs().isEmpty()) {
            status.end(outcome.flaw());
            if (!BlockState.arraysHeld(block).isEmpty()
                    || BlockState.of(block).difference(before).isPresent()) {
                throw tooEarly(block, new IllegalStateException(outcome.flaw()));
            }
            return pass.runStock(block);
        }
        if (BlockState.holdsStandIn(block)) {
            status.end("it keeps arrays where stand-ins cannot be replaced");
        } else if (outcome.plan().isPresent()) {
            state.recorded(outcome.plan().get(), Optional.of(before));
        } else {
            status.end(outcome.flaw());
        }
        return outcome.outputs().get();
    }

    private NDList replay(ForwardPass pass, TypeState state, ReplayPlan plan) {
        Replay replay =
                new Replay(plan, pass.root(), Optional.of(() -> BlockState.arraysHeld(block)));
        try {
            NDList outputs =
                    CreationScope.listen(
                            replay, () -> pass.run(block, pass.store(), new NDList(pass.inputs())));
            if (!replay.finish(outputs)) {
                throw new IllegalStateException("an output was closed");
            }
            changes = 0;
            state.replayed(plan, replay.diverged());
            return outputs;
        } catch (RuntimeException e) {
            if (!replay.hasClosed() || !mayBeOfAClosedArray(e)) {
                throw e;
            }
            status.end("it uses arrays after what was recorded as their last use");
            throw tooEarly(block, e);
        }
    }

    /** Returns whether the engine's error for a closed array may be among the causes. */
    private static boolean mayBeOfAClosedArray(RuntimeException error) {
        return Throwables.getCausalChain(error).stream()
                .anyMatch(IllegalStateException.class::isInstance);
    }
}
