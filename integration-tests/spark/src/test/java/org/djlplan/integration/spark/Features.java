package org.djlplan.integration.spark;

import ai.djl.ModelException;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.Blocks;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.convolutional.Conv2d;
import ai.djl.nn.core.Linear;
import ai.djl.nn.pooling.Pool;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import com.example.spark.Figures;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.SparkFiles;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.rows.RowPredictor;
import org.djlplan.thirdparty.guava.collect.Iterators;

/** Runs a PyTorch network of DJL blocks. */
public class Features implements FlatMapFunction<Iterator<float[]>, float[]> {

    private static final long serialVersionUID = 1;

    private final PlannedTranslatorFactory factory;
    private final Figures figures;

    public Features(PlannedTranslatorFactory factory, Figures figures) {
        this.factory = factory;
        this.figures = figures;
    }

    @Override
    public Iterator<float[]> call(Iterator<float[]> images) throws Exception {
        List<float[]> features = new ArrayList<>();
        try (ZooModel<float[], float[]> model = model();
                RowPredictor<float[], float[]> predictor = new RowPredictor<>(model, 8, 2)) {
            Iterators.addAll(
                    features, Iterators.transform(predictor.predict(images), figures::row));
            figures.predictions(model);
        }
        return features.iterator();
    }

    ZooModel<float[], float[]> model() throws IOException, ModelException {
        return PlannedModels.acquire("network", criteria().optTranslatorFactory(factory).build());
    }

    static Criteria.Builder<float[], float[]> criteria() {
        return Criteria.builder()
                .setTypes(float[].class, float[].class)
                .optEngine("PyTorch")
                .optModelPath(Path.of(SparkFiles.get("network")))
                .optModelName("network")
                .optBlock(network());
    }

    static Block network() {
        return new SequentialBlock()
                .add(convolution(32))
                .add(Activation.reluBlock())
                .add(Pool.maxPool2dBlock(new Shape(2, 2), new Shape(2, 2)))
                .add(convolution(64))
                .add(Activation.reluBlock())
                .add(Pool.globalAvgPool2dBlock())
                .add(Blocks.batchFlattenBlock())
                .add(Linear.builder().setUnits(10).build());
    }

    private static Block convolution(int filters) {
        return Conv2d.builder()
                .setFilters(filters)
                .setKernelShape(new Shape(3, 3))
                .optPadding(new Shape(1, 1))
                .build();
    }
}
