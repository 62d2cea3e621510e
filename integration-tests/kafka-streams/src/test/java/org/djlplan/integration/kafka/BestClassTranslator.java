package org.djlplan.integration.kafka;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.translate.Batchifier;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorContext;

/** Translates the bytes of an image (224 × 224 × 3) to its most probable class. */
public class BestClassTranslator implements Translator<byte[], Integer> {

    @Override
    public NDList processInput(TranslatorContext context, byte[] image) {
        float[] values = new float[image.length];
        for (int i = 0; i < image.length; i++) {
            values[i] = Byte.toUnsignedInt(image[i]) / 255f;
        }
        return new NDList(context.getNDManager().create(values, new Shape(1, 224, 224, 3)));
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
