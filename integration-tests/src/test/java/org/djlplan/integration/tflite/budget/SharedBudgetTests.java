package org.djlplan.integration.tflite.budget;

import ai.djl.Model;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import ai.djl.translate.TranslateException;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorFactory;
import ai.djl.util.Pair;
import java.lang.reflect.Type;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.djlplan.integration.support.BudgetModels;
import org.djlplan.integration.support.Freed;
import org.djlplan.integration.tflite.budget.Budgeted.Answers;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Makes criteria of two models, and finds the smallest budgets in which they run. */
abstract class SharedBudgetTests {

    private static final int INPUTS = 3;

    static Answers ofResnet;
    static Answers ofVgg;
    static long leastOfResnet;

    /** The least budget of both models. */
    static long least;

    @TempDir Path folder;
    Path resnet;
    Path vgg;

    @BeforeAll
    static void findLeast(@TempDir Path own) throws Exception {
        Path one = Budgeted.copy(BudgetModels.SMALL_RESNET, own);
        Path other = Budgeted.copy(BudgetModels.SMALL_VGG, own);
        ofResnet = Answers.of(one, 1, INPUTS);
        ofVgg = Answers.of(other, 1, INPUTS);
        leastOfResnet = Budgeted.leastBytes(one, 1);
        least = leastOfResnet + Budgeted.leastBytes(other, 1);
    }

    @BeforeEach
    void copyModels() throws Exception {
        resnet = Budgeted.copy(BudgetModels.SMALL_RESNET, folder);
        vgg = Budgeted.copy(BudgetModels.SMALL_VGG, folder);
    }

    @AfterEach
    void everythingIsFreed() {
        closeUnused();
        Freed.assertEverything();
    }

    static void closeUnused() {
        PlannedModels.closeUnused(Thread.currentThread().getContextClassLoader());
    }

    static PlannedTranslatorFactory planned() {
        return PlannedTranslatorFactory.wrap(new NoopTranslator(null));
    }

    static Criteria<NDList, NDList> criteria(Path file) {
        return criteria(file, planned());
    }

    static Criteria<NDList, NDList> criteria(Path file, PlannedTranslatorFactory factory) {
        return Criteria.builder()
                .setTypes(NDList.class, NDList.class)
                .optEngine("TFLite")
                .optModelPath(file)
                .optArgument("delegation.enabled", "false")
                .optArgument("memplan.budget", "1KB")
                .optTranslatorFactory(factory.with("memplan.threads", 1))
                .build();
    }

    static Criteria<NDList, NDList> criteria(Path file, WhileLoading action) {
        return criteria(file, PlannedTranslatorFactory.wrap(new Acting(action)));
    }

    /** What a translator factory does while its model is loaded. */
    @FunctionalInterface
    interface WhileLoading {

        void run() throws Exception;
    }

    private record Acting(WhileLoading action) implements TranslatorFactory {

        @Override
        public Set<Pair<Type, Type>> getSupportedTypes() {
            return Set.of(new Pair<>(NDList.class, NDList.class));
        }

        @Override
        @SuppressWarnings("unchecked") // there are no other types
        public <I, O> Translator<I, O> newInstance(
                Class<I> input, Class<O> output, Model model, Map<String, ?> arguments)
                throws TranslateException {
            try {
                action.run();
            } catch (Exception e) {
                throw new TranslateException(e);
            }
            return (Translator<I, O>) new NoopTranslator(null);
        }
    }

    static long budget(ZooModel<NDList, NDList> model) {
        return Budgeted.report(model).budgetBytes();
    }
}
