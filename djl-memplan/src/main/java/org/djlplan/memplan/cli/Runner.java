package org.djlplan.memplan.cli;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.report.PlanReport;

/** A loaded model that runs on the present values of its inputs. */
sealed interface Runner extends AutoCloseable permits DjlRunner, BareInterpreterRunner {

    /**
     * Loads a model.
     *
     * @param way stock with a number of threads is TFLite without DJL, too
     * @throws Failure if that fails
     */
    static Runner load(RunOptions options, Way way, List<ModelInput> inputs) {
        if (way != Way.STOCK) {
            return DjlRunner.loadPlanned(options, way, inputs);
        }
        if (options.model() instanceof ModelRef.OfFile file
                && options.engine() == EngineKind.TFLITE
                && options.threads().isPresent()) {
            return BareInterpreterRunner.load(
                    file.readable(), options.threads().getAsInt(), inputs);
        }
        return DjlRunner.loadStock(options, inputs);
    }

    /** Receives the outputs of one prediction, one after the other. */
    @FunctionalInterface
    interface OutputSink {
        /**
         * Takes one output.
         *
         * @param type element type as DJL names it, in lower case
         * @param values valid only during the call: stock outputs lie in memory that the next
         *     prediction overwrites
         */
        void accept(String type, ByteBuffer values);
    }

    /** Runs once and drops the outputs unread. */
    void run();

    /** Runs once and hands every output to {@code sink}. */
    void run(OutputSink sink);

    /** Returns what was planned, or empty when the model was loaded without a plan. */
    Optional<PlanReport> report();

    /** Frees the model. */
    @Override
    void close();
}
