package org.djlplan.memplan.runtime.tflite;

import static com.google.common.base.Preconditions.checkState;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.runtime.ArenaPool;

/** An interpreter that keeps its arena, for measurements: nothing but the engine is in between. */
record LeasedInterpreter(ModelInterpreter interpreter, Optional<ArenaPool.Lease> lease)
        implements AutoCloseable {

    /** Takes an arena for an interpreter, which is closed with the result or if that fails. */
    static LeasedInterpreter of(ModelInterpreter interpreter, Duration wait)
            throws InterruptedException {
        try {
            Optional<ArenaPool.Lease> lease = Optional.empty();
            if (interpreter.need().isPresent()) {
                lease = Optional.of(interpreter.need().get().lease(Integer.MAX_VALUE, wait));
            }
            return new LeasedInterpreter(interpreter, lease);
        } catch (InterruptedException | RuntimeException e) {
            interpreter.close();
            throw e;
        }
    }

    /** Predicts and returns copies of the outputs. */
    List<OutputTensor> run(List<ByteBuffer> values) {
        if (lease.isEmpty()) {
            return interpreter.runStock(values);
        }
        return interpreter
                .run(values, lease.get().arena())
                .orElseThrow(() -> new IllegalStateException("the plan no longer fits"));
    }

    /** Predicts once more from the inputs that are there; reads no outputs. */
    void runAgain() {
        checkState(
                interpreter.runAgain(lease.map(ArenaPool.Lease::arena)), "the plan no longer fits");
    }

    ModelInterpreter.Description description() {
        return interpreter.description();
    }

    List<LiveNode> nodes() {
        return interpreter.nodes();
    }

    long[] times() {
        return interpreter.times();
    }

    @Override
    public void close() {
        try {
            interpreter.close();
        } finally {
            lease.ifPresent(ArenaPool.Lease::close);
        }
    }
}
