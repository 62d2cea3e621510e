package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.Device;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.runtime.RecentMap;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes arrays after the last operation that uses them: the first pass for given types of inputs
 * is recorded, unless a recording of other shapes can be used; later passes follow the recording. A
 * pass that fails because of a closed array is repeated as in DJL. Thread-safe.
 */
final class OpLevel {

    private static final Logger logger = LoggerFactory.getLogger(OpLevel.class);

    private static final int MOST_TYPES = 64;
    private static final int MOST_FAILURES = 2;

    private final Block block;
    private final LivenessStatus status;
    private final Families families = new Families();
    private final Map<ImmutableList<ArrayType>, TypeState> states = RecentMap.ofMost(MOST_TYPES);
    private final AtomicInteger failures = new AtomicInteger();

    /** The blocks that are known to be pure. */
    private volatile List<Block> pure;

    private volatile List<Parameter> parameters = ImmutableList.of();

    /**
     * @param block known to be pure now
     */
    OpLevel(Block block, LivenessStatus status) {
        this.block = block;
        this.status = status;
        pure = tree(block);
    }

    private static List<Block> tree(Block block) {
        List<Block> blocks = new ArrayList<>();
        blocks.add(block);
        block.getChildren().values().forEach(child -> blocks.addAll(tree(child)));
        return blocks;
    }

    /** Returns whether passes are still pure, although the block may have got other children. */
    private boolean isPure() {
        List<Block> now = tree(block);
        List<Block> before = pure;
        if (now.size() == before.size()
                && IntStream.range(0, now.size()).allMatch(i -> now.get(i) == before.get(i))) {
            return true;
        }
        if (DjlClasses.foreignCode(block).isPresent()) {
            return false;
        }
        pure = now;
        return true;
    }

    /** Returns the state for inputs of these types. */
    TypeState state(ImmutableList<ArrayType> types) {
        return states.computeIfAbsent(types, unused -> new TypeState());
    }

    /** Returns whether the next pass with inputs of these types is to be recorded. */
    boolean wantsRecording(ImmutableList<ArrayType> types) {
        return state(types).wantsRecording() && families.mayRecord();
    }

    /**
     * Finds a recording of other shapes that the coming pass can follow, unless it has its own. May
     * run the block on trial, on small inputs of zeros.
     */
    void prepare(ForwardPass pass) {
        ImmutableList<ArrayType> types = ArrayTypes.of(pass.inputs());
        TypeState state = state(types);
        if (state.wantsRecording()) {
            families.find(types, smaller -> tryOut(pass, smaller)).ifPresent(state::borrow);
        }
    }

    private Optional<ReplayPlan> tryOut(ForwardPass pass, List<ArrayType> types) {
        if (!isPure() || !fetchParameters(pass)) {
            return Optional.empty();
        }
        try (NDManager scope = pass.root().newSubManager()) {
            NDList zeros = new NDList();
            for (ArrayType type : types) {
                zeros.add(scope.zeros(ArrayTypes.shape(type), ArrayTypes.dataType(type)));
            }
            BlockRecorder.Outcome outcome = BlockRecorder.record(block, pass.with(zeros));
            return Optional.of(
                    outcome.plan().orElseThrow(() -> new IllegalStateException(outcome.flaw())));
        } catch (RuntimeException | LinkageError | VirtualMachineError e) {
            logger.debug("Inputs {} are of no use on trial", types, e);
            return Optional.empty();
        }
    }

    NDList forward(ForwardPass pass) {
        prepare(pass);
        ImmutableList<ArrayType> types = ArrayTypes.of(pass.inputs());
        TypeState state = state(types);
        Optional<ReplayPlan> plan = state.plan();
        if ((plan.isEmpty() && !wantsRecording(types)) || !fetchParameters(pass)) {
            return pass.runStock(block);
        }
        return plan.isPresent() ? replay(pass, state, plan.get()) : record(pass, state);
    }

    private NDList record(ForwardPass pass, TypeState state) {
        Optional<String> foreign = isPure() ? Optional.empty() : DjlClasses.foreignCode(block);
        if (foreign.isPresent()) {
            status.end(foreign.get());
            return pass.runStock(block);
        }
        BlockRecorder.Outcome outcome = BlockRecorder.record(block, pass);
        if (outcome.plan().isPresent()) {
            ReplayPlan plan = outcome.plan().get();
            state.recorded(plan, Optional.empty());
            families.add(ArrayTypes.of(pass.inputs()), plan);
            return outcome.outputs().orElseThrow();
        }
        // If DJL fails in the same way, the call is the cause, not the block.
        NDList outputs =
                outcome.outputs()
                        .orElseGet(() -> repeat(pass, new IllegalStateException(outcome.flaw())));
        status.end(outcome.flaw());
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
            if (!replay.hasClosed()) {
                throw e;
            }
            logger.debug("A pass failed with arrays closed early, and is repeated", e);
            failure = e;
        }
        NDList outputs = repeat(pass, failure);
        state.failed(plan);
        // If a plan of other shapes fails, that proves nothing about the block: it may treat these
        // shapes in another way.
        if (plan.isBorrowed()) {
            families.misfit(ArrayTypes.of(pass.inputs()));
        } else if (failures.incrementAndGet() >= MOST_FAILURES) {
            status.end("it uses arrays after what was recorded as their last use");
        }
        return outputs;
    }

    private void note(ForwardPass pass, TypeState state, ReplayPlan plan, Replay replay) {
        if (plan.isBorrowed() && replay.diverged()) {
            families.misfit(ArrayTypes.of(pass.inputs()));
        } else if (plan.isBorrowed()) {
            state.learnt(plan, replay.learnt());
        }
        state.replayed(plan, replay.diverged());
    }

    /**
     * Runs a pass again as in DJL, after early closing has broken it.
     *
     * @param failure of the first run
     * @throws IllegalStateException if the block must not run twice
     */
    NDList repeat(ForwardPass pass, RuntimeException failure) {
        if (!isPure()) {
            throw GuardedLevel.tooEarly(block, failure);
        }
        return pass.runStock(block);
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
