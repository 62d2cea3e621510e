package org.djlplan.integration.zoo;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.util.Arrays;
import java.util.Random;
import org.djlplan.memplan.report.PlanReport;

/** An application that uses groups and artifacts of a model zoo, and does not refer to djl-plan. */
final class ModelZooProgram {

    private static final int CALLS = 3;

    private ModelZooProgram() {}

    /**
     * Prints for each model whether it is planned, and a hash of its outputs.
     *
     * @param arguments engine, artifact and shape of the input, for each model
     */
    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < arguments.length; i += 3) {
            long[] shape =
                    Arrays.stream(arguments[i + 2].split(",", -1))
                            .mapToLong(Long::parseLong)
                            .toArray();
            predict(arguments[i], arguments[i + 1], new Shape(shape));
        }
    }

    private static void predict(String engine, String artifact, Shape shape) throws Exception {
        Criteria<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optGroupId("ai.djl.localmodelzoo")
                        .optArtifactId(artifact)
                        .optEngine(engine)
                        .build();
        float[] input = new float[(int) shape.size()];
        Random random = new Random(1);
        for (int i = 0; i < input.length; i++) {
            input[i] = random.nextFloat();
        }
        int hash = 0;
        try (ZooModel<NDList, NDList> model = criteria.loadModel();
                NDManager manager = NDManager.newBaseManager(engine);
                Predictor<NDList, NDList> predictor = model.newPredictor()) {
            for (int call = 0; call < CALLS; call++) {
                NDList outputs = predictor.predict(new NDList(manager.create(input, shape)));
                for (NDArray output : outputs) {
                    hash = 31 * hash + Arrays.hashCode(output.toFloatArray());
                }
                outputs.close();
            }
            System.out.printf(
                    "%s %s %08x%n",
                    artifact,
                    PlanReport.of(model)
                            .map(report -> "planned=" + report.planned())
                            .orElse("stock"),
                    hash);
        }
    }
}
