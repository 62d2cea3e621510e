package consumer;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import java.nio.file.Path;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.PlanReport;

/**
 * Predicts with the model in the file that its argument names, and prints whether the model is
 * planned.
 */
public final class Main {

    private Main() {}

    public static void main(String[] arguments) throws Exception {
        Criteria<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optEngine("TFLite")
                        .optModelPath(Path.of(arguments[0]))
                        .optTranslatorFactory(PlannedTranslatorFactory.wrap(new NoopTranslator()))
                        .build();
        try (ZooModel<NDList, NDList> model = criteria.loadModel();
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            NDList input = new NDList(manager.ones(model.describeInput().valueAt(0)));
            NDList output = predictor.predict(input);
            PlanReport report = PlanReport.of(model).orElseThrow();
            System.out.println(
                    "arena " + (report.plan().arenaBytes() > 0) + ", outputs " + output.size());
            System.out.println("module " + Main.class.getModule().isNamed());
        }
    }
}
