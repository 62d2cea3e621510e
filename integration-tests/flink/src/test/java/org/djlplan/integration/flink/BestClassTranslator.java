package org.djlplan.integration.flink;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.translate.Batchifier;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorContext;

/** Translates the values of an image to its most probable class. */
public class BestClassTranslator implements Translator<float[], Integer> {

    @Override
    public NDList processInput(TranslatorContext context, float[] image) {
        return new NDList(context.getNDManager().create(image, new Shape(1, 224, 224, 3)));
    }

    @Override
    public Integer processOutput(TranslatorContext context, NDList outputs) {
        return (int) outputs.singletonOrThrow().argMax().getLong();
    }

    @Override
    public Batchifier getBatchifier() {
        return null;
    }
}
