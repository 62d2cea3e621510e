package org.djlplan.memplan.djl;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDScope;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.util.Optional;
import org.djlplan.memplan.events.FlightRecord;
import org.djlplan.memplan.runtime.Workers;

/** The forward pass of a planned ONNX Runtime block, on one of few threads. */
final class OrtForward implements InferencePass {

    private final String model;
    private final InferencePass pass;
    private final Optional<Workers> workers;
    private final InputLimit limit;

    /**
     * @param model its name
     * @param pass runs on any thread
     * @param workers run the pass; empty if its caller's thread does
     */
    OrtForward(String model, InferencePass pass, Optional<Workers> workers, InputLimit limit) {
        this.model = model;
        this.pass = pass;
        this.workers = workers;
        this.limit = limit;
    }

    @Override
    public NDList forward(
            ParameterStore parameters, NDList inputs, Optional<PairList<String, Object>> params) {
        limit.check(inputs);
        return FlightRecord.prediction(model, "OnnxRuntime", () -> run(parameters, inputs, params));
    }

    private NDList run(
            ParameterStore parameters, NDList inputs, Optional<PairList<String, Object>> params) {
        if (workers.isEmpty()) {
            return pass.forward(parameters, inputs, params);
        }
        Thread caller = Thread.currentThread();
        boolean[] elsewhere = new boolean[1];
        NDList outputs =
                workers.get()
                        .run(
                                this,
                                () -> {
                                    elsewhere[0] = Thread.currentThread() != caller;
                                    return pass.forward(parameters, inputs, params);
                                });
        if (elsewhere[0]) {
            outputs.forEach(NDScope::register);
        }
        return outputs;
    }
}
