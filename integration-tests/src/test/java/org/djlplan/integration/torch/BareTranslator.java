package org.djlplan.integration.torch;

import ai.djl.ndarray.NDList;
import ai.djl.translate.NoBatchifyTranslator;
import ai.djl.translate.TranslatorContext;

/** Passes arrays in and out unchanged, and does not use djl-plan. */
public final class BareTranslator implements NoBatchifyTranslator<NDList, NDList> {

    @Override
    public NDList processInput(TranslatorContext context, NDList inputs) {
        return inputs;
    }

    @Override
    public NDList processOutput(TranslatorContext context, NDList outputs) {
        return outputs;
    }
}
