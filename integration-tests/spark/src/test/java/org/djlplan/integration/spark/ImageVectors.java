package org.djlplan.integration.spark;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorContext;
import java.io.Serializable;

/** Translates images of 64 × 64 pixels to vectors; DJL stacks the images of a batch. */
public class ImageVectors implements Translator<float[], float[]>, Serializable {

    private static final long serialVersionUID = 1;

    @Override
    public NDList processInput(TranslatorContext context, float[] image) {
        return new NDList(context.getNDManager().create(image, new Shape(3, 64, 64)));
    }

    @Override
    public float[] processOutput(TranslatorContext context, NDList outputs) {
        return outputs.singletonOrThrow().toFloatArray();
    }
}
