package org.djlplan.integration.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import ai.djl.huggingface.translator.CrossEncoderTranslator;
import ai.djl.huggingface.translator.QuestionAnsweringTranslatorFactory;
import ai.djl.huggingface.translator.TokenClassificationTranslatorFactory;
import ai.djl.inference.Predictor;
import ai.djl.modality.nlp.generate.CausalLMOutput;
import ai.djl.modality.nlp.generate.SearchConfig;
import ai.djl.modality.nlp.generate.TextGenerator;
import ai.djl.modality.nlp.qa.QAInput;
import ai.djl.modality.nlp.translator.NamedEntity;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.util.StringPair;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.internal.rewrite.Recipe;
import org.djlplan.memplan.internal.rewrite.TorchScriptBlock;
import org.djlplan.memplan.internal.runtime.torch.ModuleRewriter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests what weights of a lower precision change in the answers of text models: which span answers
 * a question, which label a token gets, how pairs are ranked, which token comes next. The models'
 * weights are random, so answers are closer to one another than in trained models.
 */
@OnEveryDjlWhenLong
class LowerPrecisionTasksTest {

    private static final int TEXTS = 60;
    private static final int MOST_WORDS = 24;
    private static final int PROMPT = 5;
    private static final int LENGTH = 60;

    @TempDir Path folder;

    @BeforeEach
    void oneThread() {
        Torch.threads(1);
    }

    private static void rewrite(ZooModel<?, ?> model, String recipe) throws Exception {
        try (ModuleRewriter rewriter = ModuleRewriter.open()) {
            TorchScriptBlock block = TorchScriptBlock.of(model.getBlock());
            TorchScriptBlock rewritten =
                    block.rewritten(rewriter, Recipe.named(recipe).orElseThrow());
            block.exchange(rewritten);
            rewritten.close();
        }
    }

    /** Answers inputs with stock, and again at a lower precision. */
    private static <I, O, A> List<List<A>> answers(
            String precision, Criteria<I, O> criteria, List<I> inputs, Function<O, A> answer)
            throws Exception {
        try (ZooModel<I, O> model = criteria.loadModel();
                Predictor<I, O> predictor = model.newPredictor()) {
            List<List<A>> both = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                List<A> answers = new ArrayList<>();
                for (I input : inputs) {
                    answers.add(answer.apply(predictor.predict(input)));
                }
                both.add(answers);
                if (i == 0) {
                    rewrite(model, precision);
                }
            }
            return both;
        }
    }

    private static <A> double same(List<List<A>> both) {
        List<A> stock = both.get(0);
        long same =
                IntStream.range(0, stock.size())
                        .filter(i -> stock.get(i).equals(both.get(1).get(i)))
                        .count();
        return (double) same / stock.size();
    }

    private Path file(String name) throws Exception {
        return TextFiles.write(TorchScriptModels.text(name).file(), folder);
    }

    private static <I, O> Criteria.Builder<I, O> criteria(Path file, Class<I> in, Class<O> out) {
        return Criteria.builder().setTypes(in, out).optEngine("PyTorch").optModelPath(file);
    }

    @ParameterizedTest
    @CsvSource({"float16, 1", "bfloat16, 0.9", "int8, 0.9"})
    void answer_lowerPrecision_findsTheSameSpans(String precision, double least) throws Exception {
        List<String> questions = TextFiles.texts(TEXTS, 6, 2);
        List<String> paragraphs = TextFiles.texts(TEXTS, MOST_WORDS, 1);
        List<QAInput> inputs =
                IntStream.range(0, TEXTS)
                        .mapToObj(i -> new QAInput(questions.get(i), paragraphs.get(i)))
                        .toList();
        Criteria<QAInput, String> criteria =
                criteria(file("text_answer"), QAInput.class, String.class)
                        .optTranslatorFactory(new QuestionAnsweringTranslatorFactory())
                        .build();
        double same = same(answers(precision, criteria, inputs, Function.identity()));
        assertTrue(same >= least, precision + ": " + same);
    }

    @ParameterizedTest
    @CsvSource({"float16, 0.99", "bfloat16, 0.9", "int8, 0.9"})
    void label_lowerPrecision_givesTheSameLabels(String precision, double least) throws Exception {
        Criteria<String, NamedEntity[]> criteria =
                criteria(file("text_labels"), String.class, NamedEntity[].class)
                        .optTranslatorFactory(new TokenClassificationTranslatorFactory())
                        .build();
        List<List<List<String>>> both =
                answers(
                        precision,
                        criteria,
                        TextFiles.texts(TEXTS, MOST_WORDS, 1),
                        LowerPrecisionTasksTest::labels);
        List<List<String>> stock = both.get(0);
        long all = stock.stream().mapToLong(List::size).sum();
        long kept = 0;
        for (int i = 0; i < TEXTS; i++) {
            kept += stock.get(i).stream().filter(both.get(1).get(i)::contains).count();
        }
        assertTrue(kept >= least * all, precision + ": " + kept + " of " + all);
    }

    private static List<String> labels(NamedEntity[] entities) {
        return Arrays.stream(entities)
                .map(entity -> entity.getStart() + " " + entity.getEntity())
                .toList();
    }

    @ParameterizedTest
    @CsvSource({"float16, 1", "bfloat16, 0.9", "int8, 0.9"})
    void scorePair_lowerPrecision_ranksAsStock(String precision, double least) throws Exception {
        List<String> second = TextFiles.texts(TEXTS, 9, 3);
        List<String> first = TextFiles.texts(TEXTS, MOST_WORDS, 1);
        List<StringPair> pairs =
                IntStream.range(0, TEXTS)
                        .mapToObj(i -> new StringPair(first.get(i), second.get(i)))
                        .toList();
        Path file = file("text_pair");
        try (HuggingFaceTokenizer tokenizer = HuggingFaceTokenizer.newInstance(file.getParent())) {
            Criteria<StringPair, float[]> criteria =
                    criteria(file, StringPair.class, float[].class)
                            .optTranslator(CrossEncoderTranslator.builder(tokenizer).build())
                            .build();
            List<List<Float>> scores = answers(precision, criteria, pairs, score -> score[0]);
            List<List<Integer>> ranks = scores.stream().map(LowerPrecisionTasksTest::best).toList();
            long kept = ranks.get(0).stream().filter(ranks.get(1)::contains).count();
            assertTrue(kept >= least * ranks.get(0).size(), ranks.toString());
        }
    }

    /** Returns the pairs with the best scores, as a search would show them. */
    private static List<Integer> best(List<Float> scores) {
        return IntStream.range(0, scores.size())
                .boxed()
                .sorted(Comparator.comparing(scores::get).reversed())
                .limit(10)
                .toList();
    }

    /** After each beginning of stock's text, the same token comes next. */
    @ParameterizedTest
    @CsvSource({"float16, 1", "bfloat16, 0.9", "int8, 0.9"})
    void generate_lowerPrecision_choosesTheSameTokens(String precision, double least)
            throws Exception {
        Generation generation = Generation.SMALL;
        Path file = Torch.copy(TorchScriptModels.text("generator").file(), folder);
        try (ZooModel<NDList, CausalLMOutput> model = generation.load(file, false);
                Predictor<NDList, CausalLMOutput> predictor = model.newPredictor()) {
            long[] text = generation.generate(predictor, "greedy", 1, PROMPT, LENGTH);
            assertEquals(LENGTH, text.length);
            rewrite(model, precision);
            long same = 0;
            for (int length = PROMPT; length < LENGTH; length++) {
                same += next(predictor, Arrays.copyOf(text, length)) == text[length] ? 1 : 0;
            }
            assertTrue(same >= least * (LENGTH - PROMPT), precision + ": " + same);
        }
    }

    private static long next(Predictor<NDList, CausalLMOutput> predictor, long[] text)
            throws Exception {
        SearchConfig config = new SearchConfig();
        config.setMaxSeqLength(text.length + 1);
        config.setPadTokenId(0);
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            TextGenerator generator = new TextGenerator(predictor, "greedy", config);
            long[] longer =
                    generator
                            .generate(manager.create(text, new Shape(1, text.length)))
                            .toLongArray();
            return longer[text.length];
        }
    }
}
