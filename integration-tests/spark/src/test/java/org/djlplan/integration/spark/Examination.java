package org.djlplan.integration.spark;

import ai.djl.ModelException;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.spark.SparkFiles;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;

/** Runs images generated from the rows' seeds, and returns all bits of the outputs. */
final class Examination implements FlatMapFunction<Iterator<Integer>, Examined> {

    private static final long serialVersionUID = 1;

    private static final int VALUES = 224 * 224 * 3;

    /** Stands for the folder with the files that Spark brought to an executor. */
    static final String FILES = "{files}/";

    private final String key;
    private final String location;
    private final Map<String, String> options;
    private final boolean dying;

    /**
     * @param key under which executors share the model
     * @param location of the model: a path, which may begin with {@link #FILES}, or a URL
     * @param options of the load; {@link #FILES} may begin a value
     * @param dying whether the executor of the first partition dies in the middle of the partition
     */
    Examination(String key, String location, Map<String, String> options, boolean dying) {
        this.key = key;
        this.location = location;
        this.options = Map.copyOf(options);
        this.dying = dying;
    }

    @Override
    public Iterator<Examined> call(Iterator<Integer> seeds) throws Exception {
        TaskContext task = TaskContext.get();
        long process = ProcessHandle.current().pid();
        List<Examined> rows = new ArrayList<>();
        try (ZooModel<NDList, NDList> model = model();
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            while (seeds.hasNext()) {
                int seed = seeds.next();
                int bits = bits(model, predictor, seed);
                rows.add(new Examined(seed, bits, process, task.attemptNumber(), choice(model)));
                if (dying && task.partitionId() == 0 && task.attemptNumber() == 0) {
                    Runtime.getRuntime().halt(1);
                }
            }
        }
        return rows.iterator();
    }

    ZooModel<NDList, NDList> model() throws IOException, ModelException {
        return PlannedModels.acquire(key, criteria());
    }

    private Criteria<NDList, NDList> criteria() {
        PlannedTranslatorFactory factory =
                PlannedTranslatorFactory.wrap(new NoopTranslator()).with("memplan.threads", 1);
        for (Map.Entry<String, String> option : options.entrySet()) {
            factory = factory.with(option.getKey(), here(option.getValue()));
        }
        Criteria.Builder<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optEngine("TFLite")
                        .optModelName("mobilenet_v2")
                        .optTranslatorFactory(factory);
        return location.startsWith("file:")
                ? criteria.optModelUrls(location).build()
                : criteria.optModelPath(Path.of(here(location))).build();
    }

    private static String here(String text) {
        return text.startsWith(FILES) ? SparkFiles.get(text.substring(FILES.length())) : text;
    }

    static int bits(ZooModel<NDList, NDList> model, Predictor<NDList, NDList> predictor, int seed)
            throws Exception {
        Random random = new Random(seed);
        float[] image = new float[VALUES];
        for (int i = 0; i < VALUES; i++) {
            image[i] = random.nextFloat();
        }
        try (NDList input =
                        new NDList(model.getNDManager().create(image, new Shape(1, 224, 224, 3)));
                NDList output = predictor.predict(input)) {
            return Arrays.hashCode(output.singletonOrThrow().toFloatArray());
        }
    }

    /** Returns the delegated operators and the choice's origin, in one line. */
    static String choice(ZooModel<?, ?> model) {
        return PlanReport.of(model)
                .flatMap(PlanReport::delegation)
                .map(Examination::inOneLine)
                .orElse("nothing");
    }

    private static String inOneLine(DelegationReport report) {
        return report.delegatedOperators()
                + " of "
                + report.operators()
                + " operators, "
                + report.threads()
                + " threads, "
                + report.choiceId()
                + ", "
                + report.origin();
    }
}
