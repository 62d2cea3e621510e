package org.djlplan.integration.flink;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.LambdaBlock;
import ai.djl.nn.SequentialBlock;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoBatchifyTranslator;
import ai.djl.translate.TranslatorContext;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.java.tuple.Tuple3;
import org.djlplan.cli.zoo.Networks;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.PlanReport;

/**
 * Runs a PyTorch network whose first block is a class of the job. For each number it returns the
 * bits of the outputs, and how many predictions of the model were planned.
 */
public class NetworkRows extends RichMapFunction<Long, Tuple3<Long, Integer, Long>> {

    static final String NAME = "layers";

    private static final long serialVersionUID = 1;

    private static final Shape SHAPE = new Shape(1, 3, 64, 64);

    private final boolean planned;

    private transient ZooModel<float[], Integer> model;
    private transient Predictor<float[], Integer> predictor;

    /**
     * @param planned whether djl-plan plans the network
     */
    public NetworkRows(boolean planned) {
        this.planned = planned;
    }

    /** Translates values to an input array, and an output array to its bits. */
    private static final class Bits implements NoBatchifyTranslator<float[], Integer> {
        @Override
        public NDList processInput(TranslatorContext context, float[] image) {
            return new NDList(context.getNDManager().create(image, SHAPE));
        }

        @Override
        public Integer processOutput(TranslatorContext context, NDList outputs) {
            return Arrays.hashCode(outputs.singletonOrThrow().toFloatArray());
        }
    }

    static Block network() {
        return new SequentialBlock()
                .add(new LambdaBlock(NetworkRows::halve, "halve"))
                .add(Networks.named(NAME).orElseThrow().blocks().get());
    }

    private static NDList halve(NDList inputs) {
        NDArray input = inputs.singletonOrThrow();
        return new NDList(input.mul(0.5f));
    }

    @Override
    public void open(OpenContext context) throws Exception {
        ClassLoader job = getRuntimeContext().getUserCodeClassLoader();
        UserCode.add(NetworkRows.class.getClassLoader());
        Path folder = getRuntimeContext().getDistributedCache().getFile("classifier").toPath();
        Criteria.Builder<float[], Integer> criteria =
                Criteria.builder()
                        .setTypes(float[].class, Integer.class)
                        .optEngine("PyTorch")
                        .optModelPath(folder)
                        .optModelName(NAME)
                        .optBlock(network());
        if (planned) {
            getRuntimeContext()
                    .registerUserCodeClassLoaderReleaseHookIfAbsent(
                            NAME, () -> PlannedModels.closeUnused(job));
            criteria.optTranslatorFactory(PlannedTranslatorFactory.wrap(new Bits()));
            model = PlannedModels.acquire(NAME, criteria.build());
        } else {
            model = criteria.optTranslator(new Bits()).build().loadModel();
        }
        predictor = model.newPredictor();
    }

    @Override
    public Tuple3<Long, Integer, Long> map(Long number) throws Exception {
        Random random = new Random(number);
        float[] image = new float[(int) SHAPE.size()];
        for (int i = 0; i < image.length; i++) {
            image[i] = random.nextFloat();
        }
        int bits = predictor.predict(image);
        return Tuple3.of(number, bits, PlanReport.of(model).map(NetworkRows::planned).orElse(0L));
    }

    private static long planned(PlanReport report) {
        return report.predictions().total() - report.predictions().unplanned();
    }

    @Override
    public void close() {
        if (model != null) {
            predictor.close();
            model.close();
        }
    }
}
