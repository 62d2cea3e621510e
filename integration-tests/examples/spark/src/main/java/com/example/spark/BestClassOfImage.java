package com.example.spark;

import ai.djl.modality.cv.Image;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.translate.Batchifier;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorContext;
import java.io.Serializable;

/** Translates a photograph of any size to the number of its most probable class. */
public class BestClassOfImage implements Translator<Image, Integer>, Serializable {

    private static final long serialVersionUID = 1;

    @Override
    public NDList processInput(TranslatorContext context, Image image) {
        NDArray pixels = image.resize(224, 224, false).toNDArray(context.getNDManager());
        return new NDList(pixels.toType(DataType.FLOAT32, false).expandDims(0));
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
