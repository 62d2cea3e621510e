package org.djlplan.integration.beam;

import ai.djl.ModelException;
import ai.djl.inference.Predictor;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.io.IOException;
import org.apache.beam.sdk.transforms.DoFn;

/** Maps each image to its class. */
public class ClassifyImages extends DoFn<byte[], Integer> {

    private static final long serialVersionUID = 1;

    private final String file;

    private transient ZooModel<byte[], Integer> model;
    private transient Predictor<byte[], Integer> predictor;

    /**
     * @param file the model, on each machine
     */
    public ClassifyImages(String file) {
        this.file = file;
    }

    /** Takes the model. */
    @Setup
    public void setUp() throws IOException, ModelException {
        model = SharedClassifier.model(file);
        predictor = model.newPredictor();
    }

    /** Classifies one image. */
    @ProcessElement
    public void classify(@Element byte[] image, OutputReceiver<Integer> classes)
            throws TranslateException {
        classes.output(predictor.predict(image));
    }

    /** Gives the model back. */
    @Teardown
    public void tearDown() {
        // Called even if the model could not be acquired.
        if (model != null) {
            predictor.close();
            model.close();
        }
    }
}
