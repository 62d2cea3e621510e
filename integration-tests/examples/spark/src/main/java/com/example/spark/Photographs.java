package com.example.spark;

import ai.djl.modality.cv.Image;
import ai.djl.modality.cv.ImageFactory;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.spark.SparkFiles;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.sql.Row;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.rows.RowPredictor;

/** Returns the class of each file in a data frame that Spark read as {@code binaryFile}. */
public class Photographs implements MapPartitionsFunction<Row, Integer> {

    private static final long serialVersionUID = 1;

    private final PlannedTranslatorFactory factory;
    private final Figures figures;

    public Photographs(PlannedTranslatorFactory factory, Figures figures) {
        this.factory = factory;
        this.figures = figures;
    }

    @Override
    public Iterator<Integer> call(Iterator<Row> files) throws Exception {
        List<Integer> classes = new ArrayList<>();
        try (ZooModel<Image, Integer> model = PlannedModels.acquire("photographs", criteria());
                RowPredictor<Image, Integer> predictor = new RowPredictor<>(model, 1, 2)) {
            Iterator<Image> images = stream(files).map(Photographs::decoded).iterator();
            predictor.predict(images).forEachRemaining(row -> classes.add(figures.row(row)));
            figures.predictions(model);
        }
        return classes.iterator();
    }

    protected final Criteria<Image, Integer> criteria() {
        return Criteria.builder()
                .setTypes(Image.class, Integer.class)
                .optEngine("TFLite")
                .optModelPath(Path.of(SparkFiles.get("classifier")))
                .optModelName("mobilenet_v2")
                .optTranslatorFactory(factory)
                .build();
    }

    private static <T> Stream<T> stream(Iterator<T> rows) {
        return StreamSupport.stream(
                Spliterators.spliteratorUnknownSize(rows, Spliterator.ORDERED), false);
    }

    private static Image decoded(Row file) {
        byte[] content = file.getAs("content");
        try {
            return ImageFactory.getInstance().fromInputStream(new ByteArrayInputStream(content));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
