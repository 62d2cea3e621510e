package org.djlplan.integration.text;

import com.google.gson.Gson;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.djlplan.integration.torch.Torch;

/**
 * Creates folders like those of published text models, with a TorchScript file, {@code
 * tokenizer.json} and {@code config.json}. The vocabulary has a few words, and letters for all
 * other words, so a text's length in tokens differs from its length in words.
 */
public final class TextFiles {

    private static final List<String> SPECIAL =
            List.of("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]");

    private static final List<String> WORDS =
            List.of("the", "of", "memory", "plan", "model", "text", "is");

    private static final List<String> LABELS = List.of("O", "B-PER", "I-PER", "B-LOC", "I-LOC");

    private static final int MOST_LETTERS = 4;

    private TextFiles() {}

    /** Writes the folder of a model and returns its TorchScript file. */
    public static Path write(Path model, Path folder) throws IOException {
        Path file = Torch.copy(model, folder);
        writeTokenizer(file.getParent());
        return file;
    }

    /** Writes the tokenizer and the configuration into a model's folder. */
    public static void writeTokenizer(Path folder) throws IOException {
        Files.writeString(folder.resolve("tokenizer.json"), tokenizer());
        Files.writeString(folder.resolve("config.json"), config());
    }

    /** Returns texts of different lengths, from one word up to a number of words. */
    public static List<String> texts(int count, int mostWords, long seed) {
        Random random = new Random(seed);
        return IntStream.range(0, count)
                .mapToObj(i -> text(1 + random.nextInt(mostWords), random))
                .toList();
    }

    private static String text(int words, Random random) {
        return IntStream.range(0, words)
                .mapToObj(i -> word(random))
                .collect(Collectors.joining(" "));
    }

    private static String word(Random random) {
        if (random.nextInt(3) > 0) {
            return WORDS.get(random.nextInt(WORDS.size()));
        }
        return random.ints(1 + random.nextInt(MOST_LETTERS), 'a', 'z' + 1)
                .mapToObj(Character::toString)
                .collect(Collectors.joining());
    }

    private static List<String> vocabulary() {
        List<String> all = new ArrayList<>(SPECIAL);
        all.addAll(WORDS);
        for (char letter = 'a'; letter <= 'z'; letter++) {
            all.add(Character.toString(letter));
            all.add("##" + letter);
        }
        return all;
    }

    /** Returns the configuration of a tokenizer like BERT's. */
    private static String tokenizer() {
        List<String> words = vocabulary();
        Map<String, Integer> numbers = new LinkedHashMap<>();
        words.forEach(word -> numbers.put(word, numbers.size()));
        String added =
                SPECIAL.stream()
                        .map(
                                token ->
                                        """
                                        {"id": %d, "content": "%s", "single_word": false,
                                         "lstrip": false, "rstrip": false,
                                         "normalized": false, "special": true}
                                        """
                                                .formatted(numbers.get(token), token))
                        .collect(Collectors.joining(","));
        String single =
                """
                {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "[SEP]", "type_id": 0}}
                """;
        return """
               {"version": "1.0",
                "added_tokens": [%s],
                "normalizer": {"type": "BertNormalizer", "clean_text": true,
                               "handle_chinese_chars": true, "lowercase": true},
                "pre_tokenizer": {"type": "BertPreTokenizer"},
                "post_processor": {
                  "type": "TemplateProcessing",
                  "single": [%s],
                  "pair": [%s,
                           {"Sequence": {"id": "B", "type_id": 1}},
                           {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
                  "special_tokens": {
                    "[CLS]": {"id": "[CLS]", "ids": [%d], "tokens": ["[CLS]"]},
                    "[SEP]": {"id": "[SEP]", "ids": [%d], "tokens": ["[SEP]"]}}},
                "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
                "model": {"type": "WordPiece", "unk_token": "[UNK]",
                          "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                          "vocab": %s}}
               """
                .formatted(
                        added,
                        single,
                        single,
                        numbers.get("[CLS]"),
                        numbers.get("[SEP]"),
                        new Gson().toJson(numbers));
    }

    /** Returns the configuration that a translator of token classes reads: names of labels. */
    private static String config() {
        Map<String, String> names = new LinkedHashMap<>();
        Map<String, Integer> numbers = new LinkedHashMap<>();
        for (String label : LABELS) {
            names.put(Integer.toString(names.size()), label);
            numbers.put(label, numbers.size());
        }
        return new Gson().toJson(Map.of("id2label", names, "label2id", numbers));
    }
}
