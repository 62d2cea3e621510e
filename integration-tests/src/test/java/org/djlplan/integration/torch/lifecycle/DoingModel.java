package org.djlplan.integration.torch.lifecycle;

import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.training.ParameterStore;
import ai.djl.translate.NoBatchifyTranslator;
import ai.djl.translate.TranslateException;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorContext;
import ai.djl.util.PairList;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.djlplan.memplan.PlannedTranslatorFactory;

/** A planned model whose block runs a function of the test, on any thread. */
public final class DoingModel<I, O> implements AutoCloseable {

    private final Model model = Model.newInstance("doing", "PyTorch");
    private final Translator<I, O> translator;

    @SuppressWarnings("unchecked") // the factory translates whatever it is asked to
    DoingModel(UnaryOperator<NDArray> work, Translator<I, O> inner, Map<String, ?> options)
            throws Exception {
        model.setBlock(new Doing(work));
        PlannedTranslatorFactory factory =
                PlannedTranslatorFactory.wrap(inner).with("delegation.enabled", false);
        for (Map.Entry<String, ?> option : options.entrySet()) {
            factory = factory.with(option.getKey(), option.getValue());
        }
        translator =
                (Translator<I, O>) factory.newInstance(Object.class, Object.class, model, Map.of());
    }

    /** Returns a model of numbers, whose passes run on this number of workers. */
    public static DoingModel<Float, Float> of(UnaryOperator<NDArray> work, int workers)
            throws Exception {
        return new DoingModel<>(work, new OneNumber(), Map.of("memplan.workers", workers));
    }

    /** A block that runs a function of the test, on any thread. */
    private static final class Doing extends AbstractBlock {

        private final UnaryOperator<NDArray> work;

        Doing(UnaryOperator<NDArray> work) {
            this.work = work;
        }

        @Override
        protected NDList forwardInternal(
                ParameterStore store,
                NDList inputs,
                boolean training,
                PairList<String, Object> params) {
            return new NDList(work.apply(inputs.head()));
        }

        @Override
        public Shape[] getOutputShapes(Shape[] inputs) {
            return inputs;
        }
    }

    /** Takes and returns a number, so that no array outlives the call. */
    static class OneNumber implements NoBatchifyTranslator<Float, Float> {

        @Override
        public NDList processInput(TranslatorContext context, Float input) {
            return new NDList(context.getNDManager().create(new float[] {input, 0}));
        }

        @Override
        public Float processOutput(TranslatorContext context, NDList outputs) {
            return outputs.head().getFloat(0);
        }
    }

    Predictor<I, O> newPredictor() {
        return model.newPredictor(translator);
    }

    /** Predicts once, with a predictor of its own. */
    public O predict(I input) throws TranslateException {
        try (Predictor<I, O> predictor = newPredictor()) {
            return predictor.predict(input);
        }
    }

    @Override
    public void close() {
        model.close();
    }
}
