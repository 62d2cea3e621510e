package org.djlplan.integration.beam;

import ai.djl.ModelException;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.io.IOException;
import java.nio.file.Path;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.PlannedTranslatorFactory;

/** Holds the one model of this JVM. */
final class SharedClassifier {

    private SharedClassifier() {}

    static ZooModel<byte[], Integer> model(String file) throws IOException, ModelException {
        return PlannedModels.acquire(
                file,
                Criteria.builder()
                        .setTypes(byte[].class, Integer.class)
                        .optEngine("TFLite")
                        .optModelPath(Path.of(file))
                        .optTranslatorFactory(
                                PlannedTranslatorFactory.wrap(new BestClassTranslator()))
                        .build());
    }
}
