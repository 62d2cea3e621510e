package org.djlplan.memplan.internal.serving;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.djlplan.memplan.internal.candidates.CpuOutputs;
import org.djlplan.memplan.internal.gate.Gate;
import org.djlplan.memplan.internal.gate.Lane;
import org.djlplan.memplan.internal.gate.Places;
import org.djlplan.memplan.internal.runtime.ArenaPool;
import org.djlplan.memplan.internal.runtime.InputSizes;
import org.djlplan.memplan.internal.runtime.NeededMemory;
import org.djlplan.memplan.internal.runtime.NoArenaException;
import org.djlplan.memplan.internal.runtime.tflite.InterpreterFactory;
import org.djlplan.memplan.internal.runtime.tflite.ModelInterpreter;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.runtime.tflite.TensorInfo;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.report.PoolReport;
import org.djlplan.memplan.spi.Candidate;

/**
 * Runs the interpreters of a served model, each in an arena that it leases from the pool, or in the
 * engine's own memory. Counts all predictions, and those that did not run in an arena of the pool.
 * Thread-safe, but only one thread at a time may use an interpreter.
 */
final class PlannedRuns {

    /** Why a plan does not fit. */
    static final String CHANGED = "the engine's tensors changed after planning";

    private final InterpreterFactory factory;
    private final boolean keepsState;
    private final Lane lane;
    private final Places places;
    private final NeededMemory needed = new NeededMemory();
    private final AtomicLong predictions = new AtomicLong();
    private final AtomicLong unplanned = new AtomicLong();

    /**
     * @param factory of the interpreters; builds stock ones once there is no memory for an arena
     * @param interpreters how many interpreters, each with an arena, may be in use at once
     * @param passes how many passes of this and other models may run at once; 0 for any number
     * @param keepsState whether the model keeps values from one prediction to the next
     */
    PlannedRuns(InterpreterFactory factory, int interpreters, int passes, boolean keepsState) {
        this.factory = factory;
        this.keepsState = keepsState;
        Gate gate = Gate.shared();
        lane = gate.lane(interpreters, PoolReport.Cause.INTERPRETERS);
        places = gate.places(passes);
    }

    /**
     * Counts a prediction, and runs it once the gate lets it pass.
     *
     * @param shapes of the inputs
     */
    <T> T atGate(List<List<Integer>> shapes, Supplier<T> prediction) {
        predictions.incrementAndGet();
        long elements = InputSizes.of(shapes).elements();
        return lane.run(places, needed.expectedBytes(elements), prediction);
    }

    /** Returns the memory that predictions needed. */
    NeededMemory needed() {
        return needed;
    }

    /** Returns the number of predictions. */
    long predictions() {
        return predictions.get();
    }

    /** Returns how many runs for predictions were not in an arena of the pool. */
    long unplanned() {
        return unplanned.get();
    }

    /**
     * Runs an interpreter for a prediction.
     *
     * @return empty if its plan does not fit any more, or there is no arena: nothing ran then, and
     *     another interpreter may take its place
     * @throws IllegalStateException if the engine fails; and instead of an empty result if another
     *     interpreter would not have the state that this one has
     */
    Optional<List<OutputTensor>> run(ModelInterpreter interpreter, List<ByteBuffer> values) {
        return run(interpreter, values, true);
    }

    /**
     * Returns an interpreter that ran once, on zeros, so that no prediction has the cost of a first
     * run.
     *
     * @throws UnplannableException if it cannot be built, or its plan does not fit
     */
    ModelInterpreter ready(List<List<Integer>> shapes, Candidate candidate)
            throws UnplannableException {
        ModelInterpreter built = factory.build(shapes, candidate, false);
        try {
            if (run(built, zeros(built.description().inputs()), false).isEmpty()) {
                throw new UnplannableException(CHANGED);
            }
            return built;
        } catch (UnplannableException | RuntimeException | Error e) {
            built.close();
            throw e;
        }
    }

    /** Returns a function that runs an interpreter, but not for a prediction. */
    CpuOutputs.Run run(ModelInterpreter interpreter) {
        return (values, number) ->
                run(interpreter, values, false)
                        .orElseThrow(() -> new UnplannableException(CHANGED));
    }

    private static List<ByteBuffer> zeros(List<TensorInfo> inputs) {
        List<ByteBuffer> values = new ArrayList<>(inputs.size());
        for (TensorInfo input : inputs) {
            values.add(ByteBuffer.allocate((int) input.bytes()));
        }
        return values;
    }

    /**
     * @param counts whether this run is a prediction
     */
    private Optional<List<OutputTensor>> run(
            ModelInterpreter interpreter, List<ByteBuffer> values, boolean counts) {
        if (!interpreter.planned()) {
            unplanned.addAndGet(counts ? 1 : 0);
            return Optional.of(interpreter.runStock(values));
        }
        if (factory.leftToEngine().isPresent()) {
            return Optional.empty();
        }
        try {
            Optional<ArenaPool.Lease> leased = interpreter.lease();
            if (leased.isEmpty()) {
                return Optional.of(interpreter.runStock(values));
            }
            try (ArenaPool.Lease lease = leased.get()) {
                Optional<List<OutputTensor>> results = interpreter.run(values, lease.arena());
                if (results.isEmpty()) {
                    requireReplaceable(interpreter, CHANGED);
                } else {
                    needed.note(
                            InputSizes.of(interpreter.shapes()),
                            interpreter.description().neededBytes());
                }
                return results;
            }
        } catch (NoArenaException e) {
            requireReplaceable(interpreter, e.getMessage());
            if (counts) {
                factory.leaveToEngine(e.getMessage());
            }
            return Optional.empty();
        }
    }

    private void requireReplaceable(ModelInterpreter interpreter, String why) {
        if (keepsState && interpreter.ran()) {
            throw new IllegalStateException(
                    why + "; another interpreter would not have the state of earlier predictions");
        }
    }
}
