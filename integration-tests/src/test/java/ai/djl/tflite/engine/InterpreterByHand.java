package ai.djl.tflite.engine;

import ai.djl.ModelException;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.io.IOException;
import java.nio.file.Path;
import org.tensorflow.lite.Interpreter;

/**
 * Does what an expert could do without djl-plan: puts an interpreter with other options into the
 * stock engine's block. The block's constructor is package-private, so this class is in the same
 * package.
 */
public final class InterpreterByHand {

    private InterpreterByHand() {}

    /** Loads a model as DJL does, but sets a number of threads. */
    public static ZooModel<NDList, NDList> stock(Path file, int threads)
            throws IOException, ModelException {
        return load(file, new Interpreter.Options().setNumThreads(threads));
    }

    /** Loads a model as DJL does, but with XNNPACK for all operators that it takes. */
    public static ZooModel<NDList, NDList> xnnpack(Path file, int threads)
            throws IOException, ModelException {
        return load(file, new Interpreter.Options().setNumThreads(threads).setUseXNNPACK(true));
    }

    private static ZooModel<NDList, NDList> load(Path file, Interpreter.Options options)
            throws IOException, ModelException {
        ZooModel<NDList, NDList> model =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optModelPath(file)
                        .optEngine("TFLite")
                        .build()
                        .loadModel();
        ((TfLiteSymbolBlock) model.getBlock()).close();
        Interpreter interpreter = new Interpreter(file.toFile(), options);
        model.setBlock(new TfLiteSymbolBlock(interpreter, (TfLiteNDManager) model.getNDManager()));
        return model;
    }
}
