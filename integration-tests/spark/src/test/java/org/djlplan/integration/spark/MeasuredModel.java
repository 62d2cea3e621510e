package org.djlplan.integration.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.ModelException;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.djlplan.cli.demo.MobileNetV2;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.report.PlanReport;

/**
 * A TensorFlow Lite model, and the delegation that was measured for it on this machine.
 *
 * @param archive an archive of the model's folder {@code model}
 * @param choiceId identifier of the measured delegation
 * @param tables the tables stored beside the model, as {@link StoredTables} lists them
 */
record MeasuredModel(Path archive, String choiceId, Set<String> tables) {

    static MeasuredModel in(Path folder) throws Exception {
        Path model = Files.createDirectory(folder.resolve("model"));
        TfLiteWriter.write(MobileNetV2.build(1), model.resolve("mobilenet_v2.tflite"));
        DelegationReport report = measure(model);
        assertEquals(Origin.MEASURED, report.origin(), report.reason());
        return new MeasuredModel(
                LocalCluster.archive(model, folder.resolve("classifier.zip")),
                report.choiceId(),
                StoredTables.in(model));
    }

    static DelegationReport measure(Path folder) throws IOException, ModelException {
        Criteria<float[], Integer> criteria =
                Criteria.builder()
                        .setTypes(float[].class, Integer.class)
                        .optEngine("TFLite")
                        .optModelPath(folder)
                        .optModelName("mobilenet_v2")
                        .optTranslatorFactory(
                                PlannedTranslatorFactory.wrap(new BestClassTranslator())
                                        .with("memplan.threads", 1)
                                        .with("delegation.profile", "blocking"))
                        .build();
        try (ZooModel<float[], Integer> model = criteria.loadModel()) {
            return PlanReport.of(model).flatMap(PlanReport::delegation).orElseThrow();
        }
    }
}
