package org.djlplan.integration.flink;

import ai.djl.inference.Predictor;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.nio.file.Path;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.java.tuple.Tuple2;

/** A Flink function that classifies numbered images, one at a time in each slot. */
public class ClassifyImages extends RichMapFunction<Tuple2<Long, float[]>, Tuple2<Long, Integer>> {

    private static final long serialVersionUID = 1;

    private transient ZooModel<float[], Integer> model;
    private transient Predictor<float[], Integer> predictor;

    @Override
    public void open(OpenContext context) throws Exception {
        Path folder = getRuntimeContext().getDistributedCache().getFile("classifier").toPath();
        model = SharedClassifier.model(getRuntimeContext(), folder);
        predictor = model.newPredictor();
        SharedClassifier.gauges(getRuntimeContext(), model);
    }

    @Override
    public Tuple2<Long, Integer> map(Tuple2<Long, float[]> image) throws TranslateException {
        return Tuple2.of(image.f0, predictor.predict(image.f1));
    }

    @Override
    public void close() {
        // Called even if open() failed.
        if (model != null) {
            predictor.close();
            model.close();
        }
    }
}
