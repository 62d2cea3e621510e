package org.djlplan.integration.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import java.nio.file.Files;
import java.nio.file.Path;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.cli.demo.MobileNetV2;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.source.tflite.TfLiteWriter;

/**
 * A model of TensorFlow Lite, and what was measured for it here.
 *
 * @param archive of the model's folder, which is {@code model}
 * @param choiceId of what was measured
 */
record MeasuredModel(Path archive, String choiceId) {

    static MeasuredModel in(Path folder) throws Exception {
        Path model = Files.createDirectory(folder.resolve("model"));
        Path file = model.resolve("mobilenet_v2.tflite");
        TfLiteWriter.write(MobileNetV2.build(1), file);
        Criteria<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optEngine("TFLite")
                        .optModelPath(file)
                        .optArgument("delegation.profile", "blocking")
                        .optArgument("delegation.threads", 1)
                        .optTranslatorFactory(PlannedTranslatorFactory.wrap(new NoopTranslator()))
                        .build();
        String choiceId;
        try (ZooModel<NDList, NDList> measured = criteria.loadModel()) {
            DelegationReport report =
                    PlanReport.of(measured).flatMap(PlanReport::delegation).orElseThrow();
            assertEquals("MEASURED", report.origin(), report.reason());
            choiceId = report.choiceId();
        }
        return new MeasuredModel(
                LocalCluster.archive(model, folder.resolve("classifier.zip")), choiceId);
    }
}
