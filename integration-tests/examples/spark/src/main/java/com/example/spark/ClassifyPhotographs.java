package com.example.spark;

import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.djlplan.memplan.PlannedTranslatorFactory;

/** Counts how many images of a folder are in each class. */
public final class ClassifyPhotographs {

    private ClassifyPhotographs() {}

    /** Arguments: an archive of the model and its measured delegation, and the folder of images. */
    public static void main(String[] arguments) {
        SparkSession spark = SparkSession.builder().appName("classify").getOrCreate();
        spark.sparkContext().addArchive(arguments[0] + "#classifier");
        PlannedTranslatorFactory factory =
                PlannedTranslatorFactory.wrap(new BestClassOfImage())
                        .with("memplan.threads", 1)
                        .with("delegation.onMissing", "fail");
        Figures figures = new Figures(spark.sparkContext());
        Dataset<Row> files = spark.read().format("binaryFile").load(arguments[1]);
        files.mapPartitions(new Photographs(factory, figures), Encoders.INT())
                .toDF("class")
                .groupBy("class")
                .count()
                .orderBy("class")
                .show(1001);
        System.out.println(figures);
        spark.stop();
    }
}
