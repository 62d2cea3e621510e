package org.djlplan.integration.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import ai.djl.huggingface.translator.CrossEncoderTranslator;
import ai.djl.huggingface.translator.QuestionAnsweringTranslatorFactory;
import ai.djl.huggingface.translator.TextEmbeddingTranslatorFactory;
import ai.djl.huggingface.translator.TokenClassificationTranslatorFactory;
import ai.djl.inference.Predictor;
import ai.djl.modality.Input;
import ai.djl.modality.Output;
import ai.djl.modality.nlp.qa.QAInput;
import ai.djl.modality.nlp.translator.NamedEntity;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorFactory;
import ai.djl.util.StringPair;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.djlplan.integration.contract.Threads;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.integration.torch.TorchTests;
import org.djlplan.memplan.PlannedBlockFactory;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.PlanReport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests djl-plan with the tasks of DJL's HuggingFace tokenizers: answers equal the stock engine's,
 * bit by bit, for texts of many lengths.
 */
@OnEveryDjlWhenLong
class TextTasksTest implements TorchTests {

    private static final int TEXTS = 40;
    private static final int MOST_WORDS = 24;
    private static final int THREADS = 4;

    @TempDir Path folder;

    private Path files(String name) throws Exception {
        return TextFiles.write(TorchScriptModels.text(name).file(), folder);
    }

    private static List<String> texts() {
        return TextFiles.texts(TEXTS, MOST_WORDS, 1);
    }

    private static <I, O> Criteria.Builder<I, O> criteria(Path file, Class<I> in, Class<O> out) {
        return Criteria.builder().setTypes(in, out).optEngine("PyTorch").optModelPath(file);
    }

    private static <I, O> ZooModel<I, O> load(
            Path file, Class<I> in, Class<O> out, TranslatorFactory factory) throws Exception {
        return criteria(file, in, out).optTranslatorFactory(factory).build().loadModel();
    }

    /** Predicts one after the other, twice: the second time some shapes are known. */
    private static <I, O> List<String> oneByOne(
            ZooModel<I, O> model, List<I> inputs, Function<O, String> print)
            throws TranslateException {
        List<String> answers = new ArrayList<>();
        try (Predictor<I, O> predictor = model.newPredictor()) {
            for (int round = 0; round < 2; round++) {
                for (I input : inputs) {
                    answers.add(print.apply(predictor.predict(input)));
                }
            }
        }
        return answers;
    }

    /** Predicts in batches of 1, 2, 3 and more inputs. */
    private static <I, O> List<String> inBatches(
            ZooModel<I, O> model, List<I> inputs, Function<O, String> print)
            throws TranslateException {
        List<String> answers = new ArrayList<>();
        try (Predictor<I, O> predictor = model.newPredictor()) {
            int from = 0;
            for (int size = 1; from < inputs.size(); size++) {
                int to = Math.min(inputs.size(), from + size);
                predictor.batchPredict(inputs.subList(from, to)).stream()
                        .map(print)
                        .forEach(answers::add);
                from = to;
            }
        }
        return answers;
    }

    private static void assertPlanned(ZooModel<?, ?> model, int passes) {
        PlanReport report = Torch.report(model);
        PlanReport.Predictions predictions = report.predictions();
        assertTrue(report.planned(), report.toString());
        assertEquals(passes, predictions.total());
        // Each pass has a plan or is placed online; none is left to the engine.
        assertEquals(predictions.total(), predictions.online(), predictions.toString());
        assertEquals(0, predictions.unplannedAllocations(), predictions.toString());
    }

    private <I, O> void assertSame(Task<I, O> task, boolean inBatches) throws Exception {
        Path file = files(task.model);
        try (ZooModel<I, O> stock = load(file, task.in, task.out, task.factory);
                ZooModel<I, O> model = load(file, task.in, task.out, planned(task.factory))) {
            if (inBatches) {
                assertEquals(
                        inBatches(stock, task.inputs, task.print),
                        inBatches(model, task.inputs, task.print));
                assertPlanned(model, batches(TEXTS));
            } else {
                assertEquals(
                        oneByOne(stock, task.inputs, task.print),
                        oneByOne(model, task.inputs, task.print));
                assertPlanned(model, 2 * TEXTS);
            }
        }
    }

    private static TranslatorFactory planned(TranslatorFactory factory) {
        return PlannedTranslatorFactory.wrap(factory).with("delegation.enabled", false);
    }

    private static int batches(int inputs) {
        int count = 0;
        for (int left = inputs; left > 0; left -= count) {
            count++;
        }
        return count;
    }

    private static List<QAInput> questions() {
        List<String> questions = TextFiles.texts(TEXTS, 6, 2);
        List<String> paragraphs = texts();
        return IntStream.range(0, TEXTS)
                .mapToObj(i -> new QAInput(questions.get(i), paragraphs.get(i)))
                .toList();
    }

    private static List<StringPair> pairs() {
        List<String> second = TextFiles.texts(TEXTS, 9, 3);
        List<String> first = texts();
        return IntStream.range(0, TEXTS)
                .mapToObj(i -> new StringPair(first.get(i), second.get(i)))
                .toList();
    }

    /** What DJL's tokenizers do with a model. */
    private record Task<I, O>(
            String model,
            Class<I> in,
            Class<O> out,
            TranslatorFactory factory,
            List<I> inputs,
            Function<O, String> print) {

        @Override
        public String toString() {
            return model;
        }
    }

    static List<Task<?, ?>> tasks() {
        return List.of(
                new Task<>(
                        "text_states",
                        String.class,
                        float[].class,
                        new TextEmbeddingTranslatorFactory(),
                        texts(),
                        Arrays::toString),
                new Task<>(
                        "text_answer",
                        QAInput.class,
                        String.class,
                        new QuestionAnsweringTranslatorFactory(),
                        questions(),
                        Function.identity()),
                new Task<>(
                        "text_labels",
                        String.class,
                        NamedEntity[].class,
                        new TokenClassificationTranslatorFactory(),
                        texts(),
                        Arrays::toString));
    }

    @ParameterizedTest
    @MethodSource("tasks")
    void predict_manyLengths_answersAsStock(Task<?, ?> task) throws Exception {
        assertSame(task, false);
    }

    @ParameterizedTest
    @MethodSource("tasks")
    @Tag("djl-current")
    void predict_batchesOfManyLengths_answersAsStock(Task<?, ?> task) throws Exception {
        assertSame(task, true);
    }

    /**
     * Uses an application's translator, because DJL's factories for pairs differ between releases.
     */
    @Test
    void scorePair_manyLengths_answersAsStock() throws Exception {
        Path file = files("text_pair");
        try (HuggingFaceTokenizer tokenizer = HuggingFaceTokenizer.newInstance(file.getParent())) {
            Translator<StringPair, float[]> translator =
                    CrossEncoderTranslator.builder(tokenizer).build();
            Criteria.Builder<StringPair, float[]> plain =
                    criteria(file, StringPair.class, float[].class);
            Criteria<StringPair, float[]> planned =
                    criteria(file, StringPair.class, float[].class)
                            .optTranslatorFactory(
                                    PlannedTranslatorFactory.wrap(translator)
                                            .with("delegation.enabled", false))
                            .build();
            try (ZooModel<StringPair, float[]> stock =
                            plain.optTranslator(translator).build().loadModel();
                    ZooModel<StringPair, float[]> model = planned.loadModel()) {
                assertEquals(
                        oneByOne(stock, pairs(), Arrays::toString),
                        oneByOne(model, pairs(), Arrays::toString));
                assertPlanned(model, 2 * TEXTS);
            }
        }
    }

    @Test
    @Tag("djl-current")
    void scorePair_batchesOfManyLengths_answersAsStock() throws Exception {
        Path file = files("text_pair");
        Criteria.Builder<StringPair, float[]> plain =
                criteria(file, StringPair.class, float[].class)
                        .optArgument("reranking", true)
                        .optTranslatorFactory(new TextEmbeddingTranslatorFactory());
        Criteria<StringPair, float[]> planned =
                criteria(file, StringPair.class, float[].class)
                        .optArgument("reranking", true)
                        .optTranslatorFactory(
                                PlannedTranslatorFactory.wrap(new TextEmbeddingTranslatorFactory())
                                        .with("delegation.enabled", false))
                        .build();
        try (ZooModel<StringPair, float[]> stock = plain.build().loadModel();
                ZooModel<StringPair, float[]> model = planned.loadModel()) {
            assertEquals(
                    inBatches(stock, pairs(), Arrays::toString),
                    inBatches(model, pairs(), Arrays::toString));
            assertPlanned(model, batches(TEXTS));
        }
    }

    @Test
    void embed_manyThreads_answersAsStock() throws Exception {
        Path file = files("text_states");
        TranslatorFactory factory = new TextEmbeddingTranslatorFactory();
        try (ZooModel<String, float[]> stock = load(file, String.class, float[].class, factory);
                ZooModel<String, float[]> model =
                        load(file, String.class, float[].class, planned(factory))) {
            List<String> expected = oneByOne(stock, texts(), Arrays::toString);
            Threads.all(
                            THREADS,
                            thread -> {
                                Torch.threads(1);
                                return oneByOne(model, texts(), Arrays::toString);
                            })
                    .forEach(answers -> assertEquals(expected, answers));
            assertPlanned(model, THREADS * 2 * TEXTS);
        }
    }

    /**
     * Options are as in a zoo's metadata or a model's URL; DJL's arguments reach the inner factory.
     */
    @Test
    void embed_factoriesInQueryOfUrl_answersAsStock() throws Exception {
        Path file = files("text_states");
        String arguments = "pooling=max&normalize=false";
        String url = file.toUri() + "?" + arguments;
        String inner = TextEmbeddingTranslatorFactory.class.getName();
        Criteria.Builder<String, float[]> plain =
                Criteria.builder()
                        .setTypes(String.class, float[].class)
                        .optEngine("PyTorch")
                        .optModelUrls(url + "&translatorFactory=" + inner);
        Criteria.Builder<String, float[]> planned =
                Criteria.builder()
                        .setTypes(String.class, float[].class)
                        .optEngine("PyTorch")
                        .optModelUrls(
                                url
                                        + "&translatorFactory="
                                        + PlannedTranslatorFactory.class.getName()
                                        + "&memplan.translatorFactory="
                                        + inner);
        try (ZooModel<String, float[]> stock = plain.build().loadModel();
                ZooModel<String, float[]> model = planned.build().loadModel()) {
            assertEquals(
                    oneByOne(stock, texts(), Arrays::toString),
                    oneByOne(model, texts(), Arrays::toString));
            assertPlanned(model, 2 * TEXTS);
        }
    }

    /** A server's properties; the server handles only bytes. */
    @Test
    void embed_blockFactoryInServingProperties_answersAsStock() throws Exception {
        Path file = files("text_states");
        List<Input> inputs = texts().stream().map(TextTasksTest::request).toList();
        Function<Output, String> print = output -> output.getData().getAsString();
        List<String> expected;
        Criteria.Builder<Input, Output> criteria =
                Criteria.builder()
                        .setTypes(Input.class, Output.class)
                        .optEngine("PyTorch")
                        .optModelPath(file.getParent())
                        .optModelName("text_states")
                        .optTranslatorFactory(new TextEmbeddingTranslatorFactory());
        try (ZooModel<Input, Output> stock = criteria.build().loadModel()) {
            expected = oneByOne(stock, inputs, print);
        }
        Files.writeString(
                file.resolveSibling("serving.properties"),
                "blockFactory="
                        + PlannedBlockFactory.class.getName()
                        + "\noption.hasParameter=false\n");
        try (ZooModel<Input, Output> model = criteria.build().loadModel()) {
            assertEquals(expected, oneByOne(model, inputs, print));
            assertPlanned(model, 2 * TEXTS);
        }
    }

    private static Input request(String text) {
        Input input = new Input();
        input.add(text);
        return input;
    }
}
