package com.example.classifier;

import ai.djl.modality.Classifications;
import ai.djl.modality.cv.Image;
import ai.djl.modality.cv.transform.Normalize;
import ai.djl.modality.cv.transform.Resize;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.modality.cv.translator.ImageClassificationTranslator;
import ai.djl.translate.Pipeline;
import ai.djl.translate.Translator;
import java.util.stream.IntStream;

/**
 * Translates images of any size for a MobileNet, whose outputs are the probabilities of 1001
 * classes.
 */
final class Labels {

    private Labels() {}

    static Translator<Image, Classifications> translator() {
        return ImageClassificationTranslator.builder()
                .setPipeline(
                        new Pipeline(
                                new Resize(224, 224),
                                new ToTensor(),
                                new Normalize(
                                        new float[] {.5f, .5f, .5f}, new float[] {.5f, .5f, .5f}),
                                array -> array.transpose(1, 2, 0)))
                .optSynset(IntStream.range(0, 1001).mapToObj(i -> "class " + i).toList())
                .build();
    }
}
