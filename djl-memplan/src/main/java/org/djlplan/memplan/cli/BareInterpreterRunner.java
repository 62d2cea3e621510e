package org.djlplan.memplan.cli;

import ai.djl.tflite.engine.TfLiteDataType;
import com.google.common.collect.ImmutableMap;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.report.PlanReport;
import org.tensorflow.lite.Interpreter;
import org.tensorflow.lite.Tensor;

/**
 * A TensorFlow Lite interpreter without DJL and without a delegate: the only way to give the stock
 * engine a number of threads, as DJL has no route to it.
 */
final class BareInterpreterRunner implements Runner {

    private final Interpreter interpreter;
    private final Object[] inputs;

    private BareInterpreterRunner(Interpreter interpreter, List<ModelInput> inputs) {
        this.interpreter = interpreter;
        this.inputs = inputs.stream().map(ModelInput::values).toArray();
    }

    /** Loads the model for the shapes of {@code inputs}. */
    static BareInterpreterRunner load(Path model, int threads, List<ModelInput> inputs) {
        Interpreter interpreter =
                new Interpreter(model.toFile(), new Interpreter.Options().setNumThreads(threads));
        for (int i = 0; i < inputs.size(); i++) {
            int[] shape = TfLiteInputs.dimensions(inputs.get(i).shape());
            if (!Arrays.equals(shape, interpreter.getInputTensor(i).shape())) {
                interpreter.resizeInput(i, shape);
            }
        }
        return new BareInterpreterRunner(interpreter, inputs);
    }

    @Override
    public void run() {
        // No output is copied: DJL reads the interpreter's own tensors, too.
        Map<Integer, Object> noOutputs = ImmutableMap.of();
        interpreter.runForMultipleInputsOutputs(inputs, noOutputs);
    }

    @Override
    public void run(OutputSink sink) {
        run();
        for (int i = 0; i < interpreter.getOutputTensorCount(); i++) {
            Tensor output = interpreter.getOutputTensor(i);
            sink.accept(
                    TfLiteDataType.fromTf(output.dataType()).name().toLowerCase(Locale.ROOT),
                    output.asReadOnlyBuffer());
        }
    }

    @Override
    public Optional<PlanReport> report() {
        return Optional.empty();
    }

    @Override
    public void close() {
        interpreter.close();
    }
}
