package org.djlplan.integration.kafka;

import ai.djl.ModelException;
import ai.djl.inference.Predictor;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.io.IOException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.streams.processor.api.FixedKeyProcessor;
import org.apache.kafka.streams.processor.api.FixedKeyProcessorContext;
import org.apache.kafka.streams.processor.api.FixedKeyRecord;

/** Maps each image to its class. */
public class ClassifyImages implements FixedKeyProcessor<String, byte[], Integer> {

    private final String file;

    private FixedKeyProcessorContext<String, Integer> context;
    private ZooModel<byte[], Integer> model;
    private Predictor<byte[], Integer> predictor;

    /**
     * @param file the model
     */
    public ClassifyImages(String file) {
        this.file = file;
    }

    @Override
    public void init(FixedKeyProcessorContext<String, Integer> context) {
        this.context = context;
        try {
            model = SharedClassifier.model(file);
        } catch (IOException | ModelException e) {
            throw new KafkaException(e);
        }
        predictor = model.newPredictor();
    }

    @Override
    public void process(FixedKeyRecord<String, byte[]> image) {
        try {
            context.forward(image.withValue(predictor.predict(image.value())));
        } catch (TranslateException e) {
            throw new KafkaException(e);
        }
    }

    @Override
    public void close() {
        // Called even if the model could not be acquired.
        if (model != null) {
            predictor.close();
            model.close();
        }
    }
}
