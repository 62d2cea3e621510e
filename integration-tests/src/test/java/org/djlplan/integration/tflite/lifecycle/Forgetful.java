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
 * An application that closes neither its model nor its predictor, and has its own translator and
 * types. The test drops its class loader.
 */
public final class Forgetful {

    private static Predictor<Values, Answer> predictor;

    private Forgetful() {}

    /** Uses a model; returns whether it did. */
    public static boolean use(SharedModels models, Path file) throws Exception {
        Criteria<Values, Answer> criteria =
                Criteria.builder()
                        .setTypes(Values.class, Answer.class)
                        .optModelPath(file)
                        .optEngine("TFLite")
                        .optTranslatorFactory(PlannedTranslatorFactory.wrap(new Own()))
                        // A thread that still measures would belong to the application.
                        .optArgument("delegation.enabled", false)
                        .build();
        predictor = models.get("own", criteria).newPredictor();
        return predictor != null;
    }

    /** An input of the application's own type. */
    private record Values(NDList arrays) {}

    /** An output of the application's own type. */
    private record Answer(NDList arrays) {}

    private static final class Own implements Translator<Values, Answer> {

        @Override
        public NDList processInput(TranslatorContext context, Values input) {
            return input.arrays();
        }

        @Override
        public Answer processOutput(TranslatorContext context, NDList list) {
            return new Answer(list);
        }
    }
}
