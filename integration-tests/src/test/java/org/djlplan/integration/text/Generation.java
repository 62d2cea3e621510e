package org.djlplan.integration.text;

import ai.djl.inference.Predictor;
import ai.djl.modality.nlp.generate.CausalLMOutput;
import ai.djl.modality.nlp.generate.SearchConfig;
import ai.djl.modality.nlp.generate.TextGenerator;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.djlplan.memplan.PlannedTranslatorFactory;

/**
 * Generates text with DJL's own search, over a decoder whose cache grows with each token.
 *
 * @param layers number of the decoder's layers
 * @param heads number of heads in each layer
 * @param size the size of a head's keys and values
 * @param words number of words in the decoder's vocabulary
 */
record Generation(int layers, int heads, int size, int words) {

    private static final int PAD = 0;

    /** The decoder among the test resources. */
    static final Generation SMALL = new Generation(2, 4, 8, 64);

    /** The decoder that {@code torchscript_models.py generator} makes. */
    static final Generation REAL = new Generation(4, 4, 64, 8192);

    /** Loads the decoder, planned or stock. */
    ZooModel<NDList, CausalLMOutput> load(Path file, boolean planned) throws Exception {
        DecoderTranslator translator = new DecoderTranslator(layers, heads, size);
        Criteria.Builder<NDList, CausalLMOutput> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, CausalLMOutput.class)
                        .optEngine("PyTorch")
                        .optModelPath(file);
        if (planned) {
            criteria.optTranslatorFactory(
                    PlannedTranslatorFactory.wrap(translator).with("delegation.enabled", false));
        } else {
            criteria.optTranslator(translator);
        }
        return criteria.build().loadModel();
    }

    /**
     * Returns the tokens of several sequences, one after the other.
     *
     * @param search {@code greedy}, {@code beam} or {@code contrastive}
     * @param sequences number of sequences at once
     * @param prompt number of tokens that each sequence begins with
     * @param length of each sequence at the end
     */
    long[] generate(
            Predictor<NDList, CausalLMOutput> predictor,
            String search,
            int sequences,
            int prompt,
            int length)
            throws TranslateException {
        SearchConfig config = new SearchConfig();
        config.setMaxSeqLength(length);
        config.setPadTokenId(PAD);
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            long[] numbers =
                    LongStream.range(0, (long) sequences * prompt)
                            .map(i -> 1 + i * 7 % (words - 1))
                            .toArray();
            TextGenerator generator = new TextGenerator(predictor, search, config);
            return generator
                    .generate(manager.create(numbers, new Shape(sequences, prompt)))
                    .toLongArray();
        }
    }

    /** Returns the generated tokens as a text, for comparisons. */
    String print(
            Predictor<NDList, CausalLMOutput> predictor,
            String search,
            int sequences,
            int prompt,
            int length)
            throws TranslateException {
        return Arrays.toString(generate(predictor, search, sequences, prompt, length));
    }
}
