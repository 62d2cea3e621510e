package org.djlplan.integration.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.translate.NoopTranslator;
import com.example.spark.BestClassOfImage;
import com.example.spark.Figures;
import com.example.spark.Photographs;
import java.io.NotSerializableException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.SparkException;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.streaming.StreamingQuery;
import org.apache.spark.sql.streaming.Trigger;
import org.apache.spark.util.CollectionAccumulator;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests Spark with two executor JVMs. An archive brings them the model, whose delegation the driver
 * has measured.
 */
@Tag("pipelines")
class SparkRouteTest {

    private static final int PARTITIONS = 4;

    private static final List<Integer> SEEDS = IntStream.range(0, 24).boxed().toList();

    @TempDir static Path folder;

    private static JavaSparkContext spark;

    private static final Map<String, String> KEPT_ONLY = Map.of("delegation.onMissing", "fail");

    private static MeasuredModel measured;

    @BeforeAll
    static void start() throws Exception {
        spark = new JavaSparkContext(LocalCluster.ofTwo(folder));
        measured = MeasuredModel.in(folder);
        spark.sc().addArchive(measured.archive() + "#classifier");
    }

    /** The previous test may have ended an executor, whose replacement is still starting. */
    @BeforeEach
    void awaitBothExecutors() {
        int driverAndExecutors = 3;
        Await.until(
                () -> spark.sc().statusTracker().getExecutorInfos().length == driverAndExecutors);
    }

    @AfterAll
    static void stop() {
        spark.stop();
    }

    private static List<Examined> examine(boolean dying) {
        return examine(
                new Examination("examined", Examination.FILES + "classifier", KEPT_ONLY, dying),
                PARTITIONS);
    }

    private static List<Examined> examine(Examination examination, int partitions) {
        return spark.parallelize(SEEDS, partitions).mapPartitions(examination).collect().stream()
                .sorted(Comparator.comparing(Examined::seed))
                .toList();
    }

    /**
     * Asserts that all executors ran the driver's measured choice and computed the same bits, and
     * that none of them measured.
     */
    private static void assertTheDriversChoice(List<Examined> rows) {
        assertEquals(SEEDS, rows.stream().map(Examined::seed).toList());
        assertEquals(bits(examine(false)), bits(rows));
        assertEquals(Set.of("1 threads, " + measured.choiceId() + ", STORED"), choices(rows));
        List<String> tables =
                spark.parallelize(SEEDS, PARTITIONS).mapPartitions(new StoredTables()).collect();
        assertEquals(1, measured.tables().size(), measured.tables()::toString);
        assertEquals(measured.tables(), Set.copyOf(tables));
    }

    /** The archive holds the model and the driver's result; executors have nothing else. */
    @ParameterizedTest
    @ValueSource(strings = {"fail", "cpu"})
    void addArchive_measuredInTheDriver_everyExecutorServesItAndNoneMeasures(String onMissing) {
        List<Examined> rows =
                examine(
                        new Examination(
                                onMissing,
                                Examination.FILES + "classifier",
                                Map.of("delegation.onMissing", onMissing),
                                false),
                        PARTITIONS);

        assertTheDriversChoice(rows);
        assertEquals(2, processes(rows));
    }

    private static Set<String> choices(List<Examined> rows) {
        return rows.stream()
                .map(row -> row.choice().replaceFirst("^\\d+ of \\d+ operators, ", ""))
                .collect(Collectors.toSet());
    }

    private static long processes(List<Examined> rows) {
        return rows.stream().map(Examined::process).distinct().count();
    }

    private static Map<Integer, Integer> bits(List<Examined> rows) {
        return rows.stream().collect(Collectors.toMap(Examined::seed, Examined::bits));
    }

    @Test
    void mapPartitions_threeRunsAndADeadExecutor_sameBitsByTheDriversChoice() {
        List<Examined> first = examine(false);
        List<Examined> second = examine(true);
        List<Examined> third = examine(false);

        assertEquals(SEEDS, first.stream().map(Examined::seed).toList());
        assertEquals(bits(first), bits(second));
        assertEquals(bits(first), bits(third));
        assertTrue(second.stream().anyMatch(row -> row.attempt() > 0), "no executor died");
        List<Examined> all = Stream.of(first, second, third).flatMap(List::stream).toList();
        assertTrue(
                all.stream().map(Examined::process).distinct().count() > 1,
                "there was one executor");
        assertEquals(
                1,
                all.stream().map(Examined::choice).distinct().count(),
                () -> new TreeSet<>(all.stream().map(Examined::choice).toList()).toString());
        assertTrue(all.get(0).choice().endsWith("STORED"), all.get(0).choice());
        assertTrue(!all.get(0).choice().startsWith("0 "), all.get(0).choice());
        assertTrue(
                all.get(0).choice().contains(", " + measured.choiceId() + ", "),
                all.get(0).choice());
    }

    /** Executors have only the files, one of which is the measured result. */
    @Test
    void addFile_modelAloneAndAPin_theDriversChoice() throws Exception {
        Path alone = Files.createDirectory(folder.resolve("alone")).resolve("mobilenet_v2.tflite");
        Files.copy(folder.resolve("model/mobilenet_v2.tflite"), alone);
        spark.sc().addFile(alone.toString());
        spark.sc().addFile(measured.archive().toString());

        Map<String, String> pin =
                Map.of(
                        "delegation.profileFrom",
                        Examination.FILES + "classifier.zip",
                        "delegation.onMissing",
                        "fail");
        List<Examined> rows = examine(pinned(pin), PARTITIONS);

        assertTheDriversChoice(rows);
        assertEquals(2, processes(rows));

        // Executors of later jobs still have the model of the job before.
        List<Examined> other = examine(pinned(Map.of("delegation.onMissing", "cpu")), PARTITIONS);
        assertEquals(2, processes(other));
        for (Examined row : other) {
            assertTrue(row.choice().startsWith("0 of "), row.choice());
        }
        assertTheDriversChoice(examine(pinned(pin), PARTITIONS));
    }

    private static Examination pinned(Map<String, String> options) {
        return new Examination("pinned", Examination.FILES + "mobilenet_v2.tflite", options, false);
    }

    /**
     * The budget belongs to the executors' JVMs, in which other models have none. A second job sets
     * another size.
     */
    @Test
    void sharedBudget_twoModelsOfAnExecutor_dividedAndBitsAsWithout() {
        String model = folder.resolve("model").toString();
        Map<String, String> alone = Map.of("delegation.enabled", "false", "memplan.threads", "1");
        Map<Integer, Integer> bits =
                bits(examine(new Examination("alone", model, alone, false), PARTITIONS));
        for (int megabytes : new int[] {64, 80}) {
            Map<String, String> shared = new HashMap<>(alone);
            shared.put("memplan.sharedBudget", megabytes + "MB");

            List<BudgetShares.Share> rows =
                    spark.parallelize(SEEDS, PARTITIONS)
                            .mapPartitions(
                                    new BudgetShares(
                                            new Examination("one", model, shared, false),
                                            new Examination("other", model, shared, false)))
                            .collect();

            assertEquals(SEEDS.size(), rows.size());
            for (BudgetShares.Share row : rows) {
                assertEquals(bits.get(row.seed()), row.firstBits());
                assertEquals(bits.get(row.seed()), row.secondBits());
                long sum = row.firstBytes() + row.secondBytes();
                long all = megabytes * 1_000_000L;
                assertTrue(sum <= all && sum >= all - 2, row::toString);
            }
        }
    }

    @Test
    void load_folderThatAllExecutorsHave_theDriversChoice() {
        List<Examined> rows =
                examine(
                        new Examination(
                                "mounted", folder.resolve("model").toString(), KEPT_ONLY, false),
                        PARTITIONS);

        assertTheDriversChoice(rows);
    }

    /** Each executor extracts the model to its own cache. */
    @Test
    void load_insideAnArchive_theDriversChoice() {
        List<Examined> rows =
                examine(
                        new Examination(
                                "zip", measured.archive().toUri().toString(), KEPT_ONLY, false),
                        PARTITIONS);

        assertTheDriversChoice(rows);
    }

    @Test
    void mapPartitions_factoryInTheClosure_classOfEachImage() {
        PlannedTranslatorFactory factory =
                PlannedTranslatorFactory.wrap(new BestClassTranslator())
                        .with("memplan.threads", 1)
                        .with("delegation.onMissing", "fail");
        List<float[]> images = List.of(new float[224 * 224 * 3], new float[224 * 224 * 3]);

        List<Integer> classes =
                spark.parallelize(images, 2).mapPartitions(new Classification(factory)).collect();

        assertEquals(2, classes.size());
        assertEquals(classes.get(0), classes.get(1));
    }

    private static SparkSession session() {
        return SparkSession.builder().sparkContext(spark.sc()).getOrCreate();
    }

    @Test
    void dataset_imageFiles_oneClassEach() throws Exception {
        Path images = ImageFiles.write(folder, 6);
        PlannedTranslatorFactory factory =
                PlannedTranslatorFactory.wrap(new BestClassOfImage())
                        .with("memplan.threads", 1)
                        .with("delegation.onMissing", "fail");
        Figures figures = new Figures(spark.sc());
        CollectionAccumulator<String> choices = spark.sc().collectionAccumulator("choices");

        Dataset<Row> files = session().read().format("binaryFile").load(images.toString());
        List<Integer> classes =
                files.mapPartitions(
                                new ReportedPhotographs(factory, figures, choices), Encoders.INT())
                        .collectAsList();

        assertEquals(6, classes.size());
        assertEquals(6, figures.rows());
        assertEquals(6, figures.planned());
        assertEquals(0, figures.unplanned());
        assertFalse(choices.value().isEmpty());
        for (String choice : choices.value()) {
            assertTrue(choice.endsWith(", " + measured.choiceId() + ", STORED"), choice);
        }
        assertEquals(
                ImageFiles.stockClasses(folder.resolve("model"), images),
                classes.stream().sorted().toList());
    }

    @Test
    void stream_oneMicroBatch_classesOfTheSameFilesAsADataset() throws Exception {
        Path images = ImageFiles.write(folder, 6);
        PlannedTranslatorFactory factory =
                PlannedTranslatorFactory.wrap(new BestClassOfImage())
                        .with("memplan.threads", 1)
                        .with("delegation.onMissing", "fail");
        Figures figures = new Figures(spark.sc());
        SparkSession session = session();
        Dataset<Row> files = session.read().format("binaryFile").load(images.toString());
        StreamingQuery query =
                session.readStream()
                        .format("binaryFile")
                        .schema(files.schema())
                        .load(images.toString())
                        .mapPartitions(new Photographs(factory, figures), Encoders.INT())
                        .writeStream()
                        .format("memory")
                        .queryName("classes")
                        .trigger(Trigger.AvailableNow())
                        .start();

        query.awaitTermination();

        assertEquals(1, query.recentProgress().length);
        List<Integer> streamed =
                session.sql("select * from classes").as(Encoders.INT()).collectAsList();
        List<Integer> expected =
                files.mapPartitions(new Photographs(factory, figures), Encoders.INT())
                        .collectAsList();
        assertEquals(expected.stream().sorted().toList(), streamed.stream().sorted().toList());
    }

    @Test
    void mapPartitions_translatorThatCannotBeSerialized_saidAtOnceByName() {
        Classification classification =
                new Classification(PlannedTranslatorFactory.wrap(new NoopTranslator()));

        Exception error =
                assertThrows(
                        SparkException.class,
                        () ->
                                spark.parallelize(List.of(new float[1]))
                                        .mapPartitions(classification)
                                        .collect());

        Throwable cause = error.getCause();
        assertEquals(NotSerializableException.class, cause.getClass());
        assertTrue(cause.getMessage().contains(NoopTranslator.class.getName()), cause::toString);
    }
}
