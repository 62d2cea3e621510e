package org.djlplan.integration.torch;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.translate.NoBatchifyTranslator;
import ai.djl.translate.TranslatorContext;

/** Converts the outputs to text, as users' translators do, so that no array leaves the call. */
public final class InsideTranslator implements NoBatchifyTranslator<NDList, String> {

    @Override
    public NDList processInput(TranslatorContext context, NDList inputs) {
        NDList own = new NDList();
        for (NDArray input : inputs) {
            NDArray copy = input.duplicate();
            copy.attach(context.getNDManager());
            own.add(copy);
        }
        return own;
    }

    @Override
    public String processOutput(TranslatorContext context, NDList outputs) {
        return Output.copyOf(outputs).toString();
    }
}
