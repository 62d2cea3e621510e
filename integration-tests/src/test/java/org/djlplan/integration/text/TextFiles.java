package org.djlplan.integration.text;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
        Files.writeString(folder.resolve("tokenizer.json"), tokenizer().toString());
        Files.writeString(folder.resolve("config.json"), config().toString());
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
    private static JsonObject tokenizer() {
        List<String> words = vocabulary();
        JsonObject vocabulary = new JsonObject();
        for (int i = 0; i < words.size(); i++) {
            vocabulary.addProperty(words.get(i), i);
        }
        JsonObject model = typed("WordPiece");
        model.addProperty("unk_token", "[UNK]");
        model.addProperty("continuing_subword_prefix", "##");
        model.addProperty("max_input_chars_per_word", 100);
        model.add("vocab", vocabulary);
        JsonObject normalizer = typed("BertNormalizer");
        normalizer.addProperty("clean_text", true);
        normalizer.addProperty("handle_chinese_chars", true);
        normalizer.addProperty("lowercase", true);
        JsonObject decoder = typed("WordPiece");
        decoder.addProperty("prefix", "##");
        decoder.addProperty("cleanup", true);
        JsonArray added = new JsonArray();
        for (String token : SPECIAL) {
            added.add(added(words.indexOf(token), token));
        }
        JsonObject all = new JsonObject();
        all.addProperty("version", "1.0");
        all.add("added_tokens", added);
        all.add("normalizer", normalizer);
        all.add("pre_tokenizer", typed("BertPreTokenizer"));
        all.add("post_processor", template());
        all.add("decoder", decoder);
        all.add("model", model);
        return all;
    }

    private static JsonObject added(int number, String token) {
        JsonObject added = new JsonObject();
        added.addProperty("id", number);
        added.addProperty("content", token);
        for (String no : List.of("single_word", "lstrip", "rstrip", "normalized")) {
            added.addProperty(no, false);
        }
        added.addProperty("special", true);
        return added;
    }

    private static JsonObject template() {
        JsonArray single = new JsonArray();
        single.add(special("[CLS]", 0));
        single.add(sequence("A", 0));
        single.add(special("[SEP]", 0));
        JsonArray pair = single.deepCopy();
        pair.add(sequence("B", 1));
        pair.add(special("[SEP]", 1));
        JsonObject tokens = new JsonObject();
        for (String token : List.of("[CLS]", "[SEP]")) {
            JsonArray numbers = new JsonArray();
            numbers.add(vocabulary().indexOf(token));
            JsonArray names = new JsonArray();
            names.add(token);
            JsonObject entry = new JsonObject();
            entry.addProperty("id", token);
            entry.add("ids", numbers);
            entry.add("tokens", names);
            tokens.add(token, entry);
        }
        JsonObject template = typed("TemplateProcessing");
        template.add("single", single);
        template.add("pair", pair);
        template.add("special_tokens", tokens);
        return template;
    }

    private static JsonObject special(String token, int type) {
        return piece("SpecialToken", token, type);
    }

    private static JsonObject sequence(String name, int type) {
        return piece("Sequence", name, type);
    }

    private static JsonObject piece(String kind, String name, int type) {
        JsonObject inner = new JsonObject();
        inner.addProperty("id", name);
        inner.addProperty("type_id", type);
        JsonObject outer = new JsonObject();
        outer.add(kind, inner);
        return outer;
    }

    private static JsonObject typed(String type) {
        JsonObject object = new JsonObject();
        object.addProperty("type", type);
        return object;
    }

    /** Returns the configuration that a translator of token classes reads: names of labels. */
    private static JsonObject config() {
        JsonObject names = new JsonObject();
        JsonObject numbers = new JsonObject();
        for (int i = 0; i < LABELS.size(); i++) {
            names.addProperty(Integer.toString(i), LABELS.get(i));
            numbers.addProperty(LABELS.get(i), i);
        }
        JsonObject config = new JsonObject();
        config.add("id2label", names);
        config.add("label2id", numbers);
        return config;
    }
}
