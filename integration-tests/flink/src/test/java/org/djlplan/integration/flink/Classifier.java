package org.djlplan.integration.flink;

import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Path;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.PlannedTranslatorFactory;

/** The model of a job, for all of its operators. */
final class Classifier {

    private Classifier() {}

    static ZooModel<float[], Integer> model(RuntimeContext context, Path folder) throws Exception {
        // When the job ends, not a minute later.
        ClassLoader job = context.getUserCodeClassLoader();
        context.registerUserCodeClassLoaderReleaseHookIfAbsent(
                "classifier", () -> PlannedModels.closeUnused(job));
        return PlannedModels.get(
                "classifier",
                Criteria.builder()
                        .setTypes(float[].class, Integer.class)
                        .optEngine("TFLite")
                        .optModelPath(folder)
                        .optModelName("mobilenet_v2")
                        .optTranslatorFactory(PlannedTranslatorFactory.wrap(new BestClass()))
                        .build());
    }
}
