package org.djlplan.integration.text;

import ai.djl.modality.nlp.generate.CausalLMOutput;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.translate.NoBatchifyTranslator;
import ai.djl.translate.TranslatorContext;

/**
 * Translates between DJL's text generation and a decoder model. The decoder takes tokens,
 * positions, a mask, and a list of keys and values; it returns scores, the extended keys and
 * values, and states.
 *
 * <p>Each prediction closes its input keys and values, because the search does not read them again.
 *
 * @param layers number of the decoder's layers
 * @param heads number of heads in each layer
 * @param size the size of a head's keys and values
 */
public record DecoderTranslator(int layers, int heads, int size)
        implements NoBatchifyTranslator<NDList, CausalLMOutput> {

    private static final int BEFORE_PAST = 3;
    private static final String FIRST = "first";

    @Override
    public NDList processInput(TranslatorContext context, NDList inputs) {
        NDManager manager = context.getNDManager();
        if (inputs.size() == BEFORE_PAST) {
            context.setAttachment(FIRST, true);
            begin(inputs, manager);
        }
        for (NDArray past : inputs.subNDList(BEFORE_PAST)) {
            past.setName("past[]");
            past.attach(manager);
        }
        return inputs;
    }

    /** Puts one token, which the mask hides, before the others, because no array may be empty. */
    private void begin(NDList inputs, NDManager manager) {
        long batch = inputs.head().getShape().get(0);
        NDArray mask = inputs.get(2);
        inputs.set(2, manager.zeros(new Shape(batch, 1), DataType.INT64).concat(mask, 1));
        for (int i = 0; i < 2 * layers; i++) {
            inputs.add(manager.zeros(new Shape(batch, heads, 1, size)));
        }
    }

    @Override
    public CausalLMOutput processOutput(TranslatorContext context, NDList outputs) {
        NDList past = outputs.subNDList(1, 2 * layers + 1);
        if (context.getAttachment(FIRST) != null) {
            NDIndex withoutHidden = new NDIndex(":, :, 1:, :");
            NDList all = past;
            past = new NDList(all.stream().map(array -> array.get(withoutHidden)).toList());
            all.attach(context.getNDManager());
        }
        return new CausalLMOutput(outputs.head(), outputs.get(2 * layers + 1), past);
    }
}
