package org.djlplan.integration.spark;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.ModelException;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.ZooModel;
import com.example.spark.Figures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.util.CollectionAccumulator;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests a PyTorch network that an archive brings to two executor JVMs. djl-plan and the engine are
 * installed on the executors, or the job brings them.
 */
@Tag("pipelines")
@Tag("pytorch")
class SparkTorchTest {

    private static final int PARTITIONS = 4;

    /** Rows of each partition, in batches of 8. */
    private static final int ROWS = 50;

    private static final int BATCHES = PARTITIONS * 7;

    @TempDir Path folder;

    private JavaSparkContext spark;

    /** The source from which executors get djl-plan and the engine. */
    private enum Way {
        CLASS_PATH,
        JARS_OF_THE_JOB
    }

    private void start(Way way) throws Exception {
        spark =
                new JavaSparkContext(
                        way == Way.CLASS_PATH
                                ? LocalCluster.ofTwo(folder)
                                : LocalCluster.ofTwoWithJars(folder, List.of("/pytorch-")));
        Path network = Files.createDirectory(folder.resolve("network"));
        try (Model model = Model.newInstance("network", "PyTorch")) {
            model.setBlock(Features.network());
            model.getBlock()
                    .initialize(model.getNDManager(), DataType.FLOAT32, new Shape(1, 3, 64, 64));
            model.save(network, "network");
        }
        Path archive = LocalCluster.archive(network, folder.resolve("network.zip"));
        spark.sc().addArchive(archive + "#network");
    }

    @AfterEach
    void stop() {
        spark.stop();
    }

    private static List<float[]> images() {
        Random random = new Random(1);
        return IntStream.range(0, PARTITIONS * ROWS)
                .mapToObj(
                        row -> {
                            float[] image = new float[3 * 64 * 64];
                            for (int i = 0; i < image.length; i++) {
                                image[i] = random.nextFloat();
                            }
                            return image;
                        })
                .toList();
    }

    private List<float[]> features(Features function) {
        return spark.parallelize(images(), PARTITIONS).mapPartitions(function).collect();
    }

    /** Runs the network without a plan. */
    private static final class StockFeatures extends Features {

        private static final long serialVersionUID = 1;

        StockFeatures(Figures figures) {
            super(new PlannedTranslatorFactory(), figures);
        }

        @Override
        ZooModel<float[], float[]> model() throws IOException, ModelException {
            return criteria().optTranslator(new ImageVectors()).build().loadModel();
        }
    }

    /** Runs the planned network, and returns the process of each task. */
    private static final class TracedFeatures extends Features {

        private static final long serialVersionUID = 1;

        private final CollectionAccumulator<Long> processes;

        TracedFeatures(Figures figures, CollectionAccumulator<Long> processes) {
            super(PlannedTranslatorFactory.wrap(new ImageVectors()), figures);
            this.processes = processes;
        }

        @Override
        ZooModel<float[], float[]> model() throws IOException, ModelException {
            processes.add(ProcessHandle.current().pid());
            return super.model();
        }
    }

    @ParameterizedTest
    @EnumSource
    void mapPartitions_networkOfBlocks_bitsOfStockAndFiguresInAccumulators(Way way)
            throws Exception {
        start(way);
        Figures stock = new Figures(spark.sc());
        Figures planned = new Figures(spark.sc());
        CollectionAccumulator<Long> processes = spark.sc().collectionAccumulator();

        List<float[]> expected = features(new StockFeatures(stock));
        List<float[]> first = features(new TracedFeatures(planned, processes));
        List<float[]> second = features(new TracedFeatures(planned, processes));

        assertArrayEquals(expected.toArray(), first.toArray());
        assertArrayEquals(expected.toArray(), second.toArray());
        assertEquals(2, Set.copyOf(processes.value()).size(), "executors");
        if (way == Way.JARS_OF_THE_JOB) {
            assertEquals(
                    LocalCluster.SOURCES_WITH_JARS,
                    Set.copyOf(
                            spark.parallelize(List.of(0)).mapPartitions(new Sources()).collect()));
        }
        assertEquals(PARTITIONS * ROWS, stock.rows());
        assertEquals(0, stock.planned());
        assertEquals(0, stock.unplanned());
        assertEquals(2 * PARTITIONS * ROWS, planned.rows());
        assertEquals(2 * BATCHES, planned.planned() + planned.unplanned());
        assertTrue(planned.planned() > BATCHES, planned::toString);
    }
}
