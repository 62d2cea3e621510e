package org.djlplan.integration.camel;

import ai.djl.Model;
import ai.djl.modality.Classifications;
import ai.djl.modality.cv.Image;
import ai.djl.modality.cv.transform.Normalize;
import ai.djl.modality.cv.transform.Resize;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.modality.cv.translator.ImageClassificationTranslator;
import ai.djl.translate.Pipeline;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorFactory;
import ai.djl.util.Pair;
import java.lang.reflect.Type;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/** An application's translator factory: it translates images of any size to one of 1001 classes. */
public class LabelsFactory implements TranslatorFactory {

    /** The model that the route has loaded. */
    static Model loaded;

    /** Returns a translator with the channels first or last, as the engine's model takes them. */
    static ImageClassificationTranslator translator(String engine) {
        Pipeline pipeline =
                new Pipeline(
                        new Resize(224, 224),
                        new ToTensor(),
                        new Normalize(new float[] {.5f, .5f, .5f}, new float[] {.5f, .5f, .5f}));
        if (engine.equals("TFLite")) {
            pipeline.add(array -> array.transpose(1, 2, 0));
        }
        return ImageClassificationTranslator.builder()
                .setPipeline(pipeline)
                .optSynset(IntStream.range(0, 1001).mapToObj(i -> "class " + i).toList())
                .optApplySoftmax(true)
                .build();
    }

    @Override
    public Set<Pair<Type, Type>> getSupportedTypes() {
        return Set.of(new Pair<>(Image.class, Classifications.class));
    }

    @Override
    @SuppressWarnings("unchecked") // of the types above
    public <I, O> Translator<I, O> newInstance(
            Class<I> input, Class<O> output, Model model, Map<String, ?> arguments) {
        loaded = model;
        return (Translator<I, O>) translator(model.getNDManager().getEngine().getEngineName());
    }
}
