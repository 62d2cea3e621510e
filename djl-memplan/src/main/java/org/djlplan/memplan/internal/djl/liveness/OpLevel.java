package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.Device;
import ai.djl.ndarray.NDList;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.IntStream;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.source.block.LivenessTrace;
import org.djlplan.thirdparty.guava.cache.Cache;
import org.djlplan.thirdparty.guava.cache.CacheBuilder;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes arrays after the last operation that uses them: the first pass for given types of inputs
 * is recorded, unless a recording of other shapes can be used; later passes follow the recording.
 * Thread-safe.
 *
 * <p>While a pass is recorded, no other pass runs, because stand-ins of the recording may be
 * visible in the block's fields until the recorded pass ends.
 */
final class OpLevel {

    private static final Logger logger = LoggerFactory.getLogger(OpLevel.class);

    private static final int MOST_TRACES = 64;
    private static final int MOST_FAILURES = 2;
    private static final long LOCK_WAIT_MILLIS = 100;

    private final Block block;
    private final LivenessCounters counters;
    private final Repetition repetition;
    private final Families families = new Families();

    /** The blocks whose code was analyzed; empty if the analysis failed. */
    private final List<Block> known;

    private final Cache<ImmutableList<ArrayType>, TypeState> states =
            CacheBuilder.newBuilder().concurrencyLevel(1).maximumSize(MOST_TRACES).build();

    /** The state for types that are not recorded any more. */
    private final TypeState unrecorded = TypeState.refused();

    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private final AtomicInteger failures = new AtomicInteger();
    private volatile List<Parameter> parameters = ImmutableList.of();
    private volatile boolean exhausted = !CreationScope.available();

    OpLevel(Block block, LivenessCounters counters, Repetition repetition) {
        this.block = block;
        this.counters = counters;
        this.repetition = repetition;
        known = repetition.code().knownPure() ? tree(block) : ImmutableList.of();
    }

    private static List<Block> tree(Block block) {
        List<Block> blocks = new ArrayList<>();
        blocks.add(block);
        block.getChildren().values().forEach(child -> blocks.addAll(tree(child)));
        return blocks;
    }

    /**
     * Returns whether passes are known to be pure, taking into account that the block may have got
     * other children.
     */
    private boolean knownPure() {
        if (!repetition.code().knownPure()) {
            return false;
        }
        List<Block> now = tree(block);
        return now.size() == known.size()
                && IntStream.range(0, now.size()).allMatch(i -> now.get(i) == known.get(i));
    }

    /** Returns whether this level cannot serve the block; no pass should use it then. */
    boolean exhausted() {
        return exhausted;
    }

    /** Returns the state for inputs of these types. */
    TypeState state(ImmutableList<ArrayType> types) {
        TypeState known = states.getIfPresent(types);
        if (known != null && !known.wantsRecording()) {
            return known;
        }
        if (families.mayRecord(types)) {
            return stateToRecord(types);
        }
        if (known != null) {
            known.refuse();
        }
        return known == null ? unrecorded : known;
    }

    private TypeState stateToRecord(ImmutableList<ArrayType> types) {
        try {
            return states.get(types, TypeState::new);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Finds a recording of other shapes that the coming pass can follow, unless it has its own. May
     * run the block on trial, on small inputs of zeros.
     */
    void prepare(ForwardPass pass) {
        ImmutableList<ArrayType> types = ArrayTypes.of(pass.inputs());
        TypeState state = state(types);
        if (state.wantsRecording()) {
            families.findRecording(types, smaller -> tryOut(pass, smaller))
                    .ifPresent(state::borrow);
        }
    }

    private Optional<LivenessTrace> tryOut(ForwardPass pass, List<ArrayType> types) {
        // Only DJL's own blocks may be run any number of times.
        if (!repetition.code().djlsOwn() || !knownPure() || !fetchParameters(pass)) {
            return Optional.empty();
        }
        try {
            return Optional.of(
                    LivenessTrace.of(
                            RecordedBlocks.record(
                                    types,
                                    pass.root(),
                                    inputs ->
                                            BlockRecorder.record(
                                                    block,
                                                    new ForwardPass(
                                                            pass.store(), inputs, pass.params()),
                                                    true))));
        } catch (RuntimeException | LinkageError | VirtualMachineError e) {
            logger.debug("Inputs {} are of no use on trial", types, e);
            return Optional.empty();
        }
    }

    NDList forward(ForwardPass pass) {
        prepare(pass);
        TypeState state = state(ArrayTypes.of(pass.inputs()));
        if (state.wantsRecording()) {
            return recordAlone(pass, state);
        }
        return follow(pass, state);
    }

    private NDList follow(ForwardPass pass, TypeState state) {
        lock.readLock().lock();
        try {
            Optional<ReplayPlan> plan = state.plan();
            return plan.isPresent() && fetchParameters(pass)
                    ? replay(pass, state, plan.get())
                    : pass.runStock(block);
        } finally {
            lock.readLock().unlock();
        }
    }

    private boolean becomeAlone(TypeState state) {
        if (lock.writeLock().tryLock()) {
            return true;
        }
        if (!state.waitsToRecord()) {
            return false;
        }
        try {
            return lock.writeLock().tryLock(LOCK_WAIT_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private NDList recordAlone(ForwardPass pass, TypeState state) {
        if (!becomeAlone(state)) {
            return pass.runStock(block);
        }
        try {
            if (state.wantsRecording()) {
                return fetchParameters(pass) ? record(pass, state) : pass.runStock(block);
            }
        } finally {
            lock.writeLock().unlock();
        }
        return follow(pass, state);
    }

    private NDList record(ForwardPass pass, TypeState state) {
        BlockRecorder.Outcome outcome = BlockRecorder.record(block, pass, knownPure());
        counters.closedEarly(outcome.closed());
        if (outcome.recording().isPresent()) {
            LivenessTrace trace = LivenessTrace.of(outcome.recording().get());
            state.recorded(trace);
            families.add(ArrayTypes.of(pass.inputs()), trace);
            return outcome.outputs().orElseThrow();
        }
        // If DJL fails in the same way, the call is the cause, not the block.
        NDList outputs =
                outcome.outputs()
                        .orElseGet(
                                () ->
                                        repetition.run(
                                                pass, new IllegalStateException(outcome.flaw())));
        counters.fellBack();
        if (outcome.unrepeatable()) {
            state.refuse();
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
        Replay replay = new Replay(plan, pass.root(), Optional.empty());
        RuntimeException failure = new IllegalStateException("an output was closed");
        try {
            NDList outputs =
                    CreationScope.listen(
                            replay, () -> pass.run(block, pass.store(), new NDList(pass.inputs())));
            if (replay.finish(outputs)) {
                note(pass, state, plan, replay);
                return outputs;
            }
        } catch (RuntimeException e) {
            if (replay.closed() == 0) {
                throw e;
            }
            logger.debug("A pass failed with arrays closed early, and is repeated", e);
            failure = e;
        } finally {
            counters.closedEarly(replay.closed());
        }
        NDList outputs = repetition.run(pass, failure);
        counters.fellBack();
        state.failed(plan);
        families.misfit(ArrayTypes.of(pass.inputs()), plan.trace());
        // If a plan of other shapes fails, that proves nothing about the block: it may treat these
        // shapes in another way.
        if (!plan.borrowed() && failures.incrementAndGet() >= MOST_FAILURES) {
            giveUp("it uses arrays after what was recorded as their last use");
        }
        return outputs;
    }

    private void note(ForwardPass pass, TypeState state, ReplayPlan plan, Replay replay) {
        replay.learnt().ifPresent(trace -> state.learnt(plan, trace));
        if (!replay.diverged()) {
            state.replayed(plan, false);
            return;
        }
        counters.diverged();
        families.misfit(ArrayTypes.of(pass.inputs()), plan.trace());
        if (plan.borrowed()) {
            state.failed(plan);
        } else {
            state.replayed(plan, true);
        }
    }

    private synchronized void giveUp(String reason) {
        if (!exhausted) {
            exhausted = true;
            logger.warn(
                    "Intermediates of {} are left to DJL: {}",
                    block.getClass().getSimpleName(),
                    reason);
        }
    }

    /**
     * Makes the store create its copies now, because they must not be treated as intermediates.
     *
     * @return whether that succeeded; if not, the block will report the error
     */
    boolean fetchParameters(ForwardPass pass) {
        try {
            if (parameters.isEmpty()) {
                parameters = ImmutableList.copyOf(block.getParameters().values());
            }
            Device device = pass.inputs().head().getDevice();
            for (Parameter parameter : parameters) {
                if (parameter.isInitialized()) {
                    pass.store().getValue(parameter, device, false);
                }
            }
            return true;
        } catch (RuntimeException e) {
            logger.debug("Parameters are not at hand", e);
            return false;
        }
    }
}
