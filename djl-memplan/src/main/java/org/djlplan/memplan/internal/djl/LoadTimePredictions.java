package org.djlplan.memplan.internal.djl;

import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.SymbolBlock;
import ai.djl.translate.NoBatchifyTranslator;
import ai.djl.translate.TranslateException;
import ai.djl.translate.TranslatorContext;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.config.InputShape;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.Longs;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Predicts with zeros while a model is loaded, so that the first real prediction of the same shape
 * finds what the engine and djl-plan prepare in first predictions.
 */
public final class LoadTimePredictions {

    private static final Logger logger = LoggerFactory.getLogger(LoadTimePredictions.class);

    /** In one the engine and djl-plan record, in one the engine optimizes, one is as all later. */
    private static final int PREDICTIONS = 3;

    /** Number of additional predictions that measure a model's memory beside its weights. */
    private static final int WITH_BUDGET = 6;

    private LoadTimePredictions() {}

    /**
     * Predicts with zeros. If the model cannot, logs one warning, and leaves the first prediction
     * to the user.
     *
     * @param given the inputs; empty for those that the model describes
     * @throws TranslateException if the model's budget cannot be met, and is not best-effort
     */
    static void run(Model model, List<InputShape> given) throws TranslateException {
        try {
            List<InputShape> inputs = given.isEmpty() ? described(model.getBlock()) : given;
            int predictions =
                    ModelHandle.of(model).filter(ModelHandle::hasBudget).isPresent()
                            ? WITH_BUDGET
                            : PREDICTIONS;
            predict(model, inputs, predictions);
        } catch (RuntimeException | TranslateException e) {
            Optional<BudgetTooSmallException> tooSmall = tooSmall(e);
            if (tooSmall.isPresent()) {
                throw new TranslateException(tooSmall.get().getMessage(), tooSmall.get());
            }
            logger.warn(
                    "{} does not predict while it is loaded: {}", model.getName(), e.toString());
        }
    }

    /**
     * Predicts once with zeros; returns whether the budget sufficed. If the model does not accept
     * the inputs, logs one warning and returns true: its first prediction will show whether the
     * budget suffices.
     */
    static boolean fits(Model model, List<InputShape> inputs) {
        try {
            predict(model, inputs, 1);
        } catch (RuntimeException | TranslateException e) {
            if (tooSmall(e).isPresent()) {
                return false;
            }
            logger.warn("{} is not tried in its budget: {}", model.getName(), e.toString());
        }
        return true;
    }

    private static Optional<BudgetTooSmallException> tooSmall(Exception problem) {
        return Throwables.getCausalChain(problem).stream()
                .filter(BudgetTooSmallException.class::isInstance)
                .map(BudgetTooSmallException.class::cast)
                .findFirst();
    }

    /**
     * Predicts with zeros of given shapes.
     *
     * @param inputs the shapes of one prediction's inputs
     * @throws TranslateException if the model does not accept them
     */
    public static void run(Model model, String inputs) throws TranslateException {
        predict(model, inputs(inputs), PREDICTIONS);
    }

    /**
     * Parses the inputs of one prediction.
     *
     * @throws IllegalArgumentException if the text does not describe inputs
     */
    private static List<InputShape> inputs(String text) {
        return InputShape.parseAll(text)
                .filter(shapes -> !shapes.isEmpty())
                .orElseThrow(
                        () ->
                                new IllegalArgumentException(
                                        "inputs \""
                                                + text
                                                + "\": must be shapes such as"
                                                + " 1,3,224,224;1,128:int64"));
    }

    private static void predict(Model model, List<InputShape> inputs, int times)
            throws TranslateException {
        try (Predictor<List<InputShape>, Integer> predictor = model.newPredictor(new Zeros())) {
            for (int i = 0; i < times; i++) {
                int unused = predictor.predict(inputs);
            }
        }
    }

    /** Creates inputs of zeros; outputs are closed at the end of the call. */
    private static final class Zeros implements NoBatchifyTranslator<List<InputShape>, Integer> {

        @Override
        public NDList processInput(TranslatorContext context, List<InputShape> inputs) {
            NDList list = new NDList();
            for (InputShape input : inputs) {
                DataType type = DataType.valueOf(input.dataType().toUpperCase(Locale.ROOT));
                list.add(
                        context.getNDManager()
                                .zeros(new Shape(Longs.toArray(input.shape())), type));
            }
            return list;
        }

        @Override
        public Integer processOutput(TranslatorContext context, NDList outputs) {
            return outputs.size();
        }
    }

    private static List<InputShape> described(Block block) {
        if (block instanceof SymbolBlock) {
            throw new IllegalArgumentException(
                    "a TorchScript model does not describe its inputs: give their shapes, such as"
                            + " memplan.warmup=1,3,224,224");
        }
        // Not describeInput(), which throws for blocks with loaded parameters.
        return Arrays.stream(block.getInputShapes())
                .map(shape -> new InputShape(Longs.asList(shape.getShape()), "float32"))
                .collect(ImmutableList.toImmutableList());
    }
}
