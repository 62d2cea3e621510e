package org.djlplan.integration.spark;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import org.apache.spark.SparkFiles;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;

/** Runs images of which rows give the seeds, and tells all bits of the outputs. */
final class Examination implements FlatMapFunction<Iterator<Integer>, Examined> {

    private static final long serialVersionUID = 1;

    private static final int VALUES = 224 * 224 * 3;

    /** Whether the executor of the first partition dies while it is in its middle. */
    private final boolean dying;

    Examination(boolean dying) {
        this.dying = dying;
    }

    @Override
    public Iterator<Examined> call(Iterator<Integer> seeds) throws Exception {
        TaskContext task = TaskContext.get();
        long process = ProcessHandle.current().pid();
        List<Examined> rows = new ArrayList<>();
        try (ZooModel<NDList, NDList> model = PlannedModels.get("examined", criteria());
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

    private static Criteria<NDList, NDList> criteria() {
        return Criteria.builder()
                .setTypes(NDList.class, NDList.class)
                .optEngine("TFLite")
                .optModelPath(Path.of(SparkFiles.get("classifier")))
                .optModelName("mobilenet_v2")
                .optTranslatorFactory(
                        PlannedTranslatorFactory.wrap(new NoopTranslator())
                                .with("delegation.threads", 1)
                                .with("delegation.onMissing", "fail"))
                .build();
    }

    private static int bits(
            ZooModel<NDList, NDList> model, Predictor<NDList, NDList> predictor, int seed)
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

    private static String choice(ZooModel<?, ?> model) {
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
