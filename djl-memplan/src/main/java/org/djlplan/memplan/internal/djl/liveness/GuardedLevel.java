package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDList;
import ai.djl.nn.Block;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.djlplan.memplan.internal.djl.purity.BlockCode;
import org.djlplan.memplan.internal.source.block.LivenessTrace;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes arrays after the last operation that uses them, in a stateful block, whose forward pass
 * therefore runs exactly once per prediction. Thread-safe; one pass at a time is recorded or
 * follows a recording, others run as in DJL.
 *
 * <p>A pass cannot be repeated after an array was closed too early. So a recording is used only if
 * it is certain to fit: the block's code depends only on the types of the inputs and on the block's
 * state ({@link BlockCode#detour}), and the state is the same as when the recorded pass began. The
 * arrays in the block's fields are checked before each closing.
 */
final class GuardedLevel {

    private static final Logger logger = LoggerFactory.getLogger(GuardedLevel.class);

    private static final long LOCK_WAIT_MILLIS = 100;
    private static final int MOST_CHANGES = 6;

    private final Block block;
    private final BlockCode code;
    private final LivenessCounters counters;
    private final Predicate<ForwardPass> fetchParameters;
    private final ReentrantLock lock = new ReentrantLock();
    private final AtomicInteger changes = new AtomicInteger();
    private volatile boolean exhausted = !CreationScope.available();

    /**
     * @param fetchParameters makes the store create its copies; returns false if that failed
     */
    GuardedLevel(
            Block block,
            BlockCode code,
            LivenessCounters counters,
            Predicate<ForwardPass> fetchParameters) {
        this.block = block;
        this.code = code;
        this.counters = counters;
        this.fetchParameters = fetchParameters;
    }

    /** Returns whether this level cannot serve the block; no pass should use it then. */
    boolean exhausted() {
        return exhausted;
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
        Optional<BlockState> now = BlockState.of(block, code.statics());
        if (now.isEmpty()) {
            giveUp("it holds more than can be looked at");
            return pass.runStock(block);
        }
        if (plan.isEmpty()) {
            return record(pass, state, now.get());
        }
        Optional<String> changed = state.recordedIn().flatMap(now.get()::difference);
        if (changed.isPresent()) {
            state.outdated();
            counters.diverged();
            if (changes.incrementAndGet() >= MOST_CHANGES) {
                giveUp(changed.get() + " changes from pass to pass");
            }
            return pass.runStock(block);
        }
        return replay(pass, state, plan.get());
    }

    private NDList record(ForwardPass pass, TypeState state, BlockState before) {
        BlockRecorder.Outcome outcome = BlockRecorder.recordOnce(block, pass, code.statics());
        NDList outputs =
                outcome.outputs()
                        .orElseThrow(
                                () ->
                                        Repetition.tooEarly(
                                                block, new IllegalStateException(outcome.flaw())));
        if (BlockState.holdsStandIn(block, code.statics())) {
            giveUp("it keeps arrays where stand-ins cannot be replaced");
        } else if (outcome.recording().isPresent()) {
            state.recorded(LivenessTrace.of(outcome.recording().get()), before);
        } else if (outcome.unrepeatable()) {
            state.refuse();
            counters.fellBack();
            logger.warn(
                    "Intermediates of {} are left to DJL: {}",
                    block.getClass().getSimpleName(),
                    outcome.flaw());
        } else {
            giveUp(outcome.flaw());
        }
        return outputs;
    }

    private NDList replay(ForwardPass pass, TypeState state, ReplayPlan plan) {
        Replay replay =
                new Replay(
                        plan,
                        pass.root(),
                        Optional.of(() -> BlockState.arraysHeld(block, code.statics())));
        try {
            NDList outputs =
                    CreationScope.listen(
                            replay, () -> pass.run(block, pass.store(), new NDList(pass.inputs())));
            if (!replay.finish(outputs)) {
                throw new IllegalStateException("an output was closed");
            }
            changes.set(0);
            state.replayed(plan, replay.diverged());
            if (replay.diverged()) {
                counters.diverged();
            }
            return outputs;
        } catch (RuntimeException e) {
            if (replay.closed() == 0 || !mayBeOfAClosedArray(e)) {
                throw e;
            }
            giveUp("it uses arrays after what was recorded as their last use");
            throw Repetition.tooEarly(block, e);
        } finally {
            counters.closedEarly(replay.closed());
        }
    }

    /** Returns whether the engine's error for a closed array may be among the causes. */
    private static boolean mayBeOfAClosedArray(RuntimeException error) {
        return Throwables.getCausalChain(error).stream()
                .anyMatch(IllegalStateException.class::isInstance);
    }

    private synchronized void giveUp(String reason) {
        if (!exhausted) {
            exhausted = true;
            counters.fellBack();
            logger.warn(
                    "Intermediates of {} are left to DJL: {}",
                    block.getClass().getSimpleName(),
                    reason);
        }
    }
}
