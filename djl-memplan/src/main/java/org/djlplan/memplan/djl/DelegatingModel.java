package org.djlplan.memplan.djl;

import com.google.common.collect.ImmutableList;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.runtime.tflite.OutputTensor;
import org.djlplan.memplan.runtime.tflite.TensorInfo;
import org.djlplan.memplan.serving.ServedModel;
import org.djlplan.memplan.serving.TfLiteModel;

/**
 * A served model with the delegation that chooses its operators while it serves.
 * @param served the model
 * @param delegation closed first; empty if nothing is delegated
 */
record DelegatingModel(ServedModel served, Optional<ModelDelegation> delegation)
        implements TfLiteModel {

    @Override
    public ImmutableList<TensorInfo> inputs() {
        return served.inputs();
    }

    @Override
    public ImmutableList<TensorInfo> outputs() {
        return served.outputs();
    }

    @Override
    public List<OutputTensor> run(List<ByteBuffer> values, List<List<Integer>> shapes) {
        return served.run(values, shapes);
    }

    @Override
    public PlanReport report() {
        return served.report();
    }

    @Override
    public boolean isSettled() {
        return delegation.map(ModelDelegation::isSettled).orElse(true);
    }

    @Override
    public void close() {
        delegation.ifPresent(ModelDelegation::close);
        served.close();
    }
}
