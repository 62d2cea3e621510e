package org.djlplan.integration.spark;

import ai.djl.inference.Predictor;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.SparkFiles;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.PlannedTranslatorFactory;

/** Classifies the images of a partition with one model for all tasks of an executor. */
public class Classification implements FlatMapFunction<Iterator<float[]>, Integer> {

    private static final long serialVersionUID = 1;

    private final PlannedTranslatorFactory factory;

    public Classification(PlannedTranslatorFactory factory) {
        this.factory = factory;
    }

    @Override
    public Iterator<Integer> call(Iterator<float[]> images) throws Exception {
        Criteria<float[], Integer> criteria =
                Criteria.builder()
                        .setTypes(float[].class, Integer.class)
                        .optEngine("TFLite")
                        .optModelPath(Path.of(SparkFiles.get("classifier")))
                        .optModelName("mobilenet_v2")
                        .optTranslatorFactory(factory)
                        .build();
        List<Integer> classes = new ArrayList<>();
        try (ZooModel<float[], Integer> model = PlannedModels.acquire("classifier", criteria);
                Predictor<float[], Integer> predictor = model.newPredictor()) {
            while (images.hasNext()) {
                classes.add(predictor.predict(images.next()));
            }
        }
        return classes.iterator();
    }
}
