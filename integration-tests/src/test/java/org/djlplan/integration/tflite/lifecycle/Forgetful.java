package org.djlplan.integration.tflite.lifecycle;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.Criteria;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorContext;
import java.nio.file.Path;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.internal.djl.SharedModels;

/**
 * An application that closes neither its model nor its predictor, and has its own translator. The
 * test drops its class loader.
 */
public final class Forgetful {

    private static Predictor<NDList, NDList> predictor;

    private Forgetful() {}

    /** Uses a model; returns whether it did. */
    public static boolean use(SharedModels models, Path file) throws Exception {
        Criteria<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optModelPath(file)
                        .optEngine("TFLite")
                        .optTranslatorFactory(PlannedTranslatorFactory.wrap(new Own()))
                        // A thread that still measures would belong to the application.
                        .optArgument("delegation.enabled", false)
                        .build();
        predictor = models.get("own", criteria).newPredictor();
        return predictor != null;
    }

    private static final class Own implements Translator<NDList, NDList> {

        @Override
        public NDList processInput(TranslatorContext context, NDList input) {
            return input;
        }

        @Override
        public NDList processOutput(TranslatorContext context, NDList list) {
            return list;
        }
    }
}
