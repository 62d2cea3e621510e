package org.djlplan.memplan.internal.djl;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.training.ParameterStore;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorContext;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import org.djlplan.thirdparty.guava.base.Throwables;

/**
 * Predicts the inputs of one call of {@code batchPredict} in groups of similar lengths, one after
 * the other, so that there is little padding, and no group has more tokens than a limit. The
 * translator makes each group's batch, as it would if the caller had passed the group.
 */
public final class TokenGroups {

    /** The attachment of a call's context that has the outputs. */
    private static final String OUTPUTS = "djl-plan-outputs";

    private final long most;

    /**
     * @param most limit of the tokens of a group: the length of its longest input times its size
     */
    TokenGroups(long most) {
        this.most = most;
    }

    /**
     * Splits items into groups of similar lengths. The group with the longest ones comes first, so
     * that a lack of memory shows at once.
     *
     * @param most limit of the tokens of a group; a longer item is a group of its own
     */
    public static <T> List<List<T>> split(List<T> items, ToLongFunction<T> length, long most) {
        List<T> byLength = new ArrayList<>(items);
        byLength.sort(Comparator.comparingLong(length).reversed());
        List<List<T>> groups = new ArrayList<>();
        int begin = 0;
        while (begin < byLength.size()) {
            long longest = Math.max(1, length.applyAsLong(byLength.get(begin)));
            long fitting = Math.max(1, most / longest);
            int end = (int) Math.min(byLength.size(), begin + fitting);
            groups.add(List.copyOf(byLength.subList(begin, end)));
            begin = end;
        }
        return groups;
    }

    /** Returns the number of tokens of an input: the longest first dimension of its arrays. */
    public static long length(NDList arrays) {
        return arrays.stream()
                .map(NDArray::getShape)
                .filter(shape -> shape.dimension() > 0)
                .mapToLong(shape -> shape.get(0))
                .max()
                .orElse(1);
    }

    /**
     * Predicts the inputs of a call, and keeps the outputs in its context, unless one group has
     * all.
     *
     * @return whether it predicted
     */
    boolean predict(Translator<Object, ?> translator, TranslatorContext context, List<?> inputs)
            throws Exception {
        if (inputs.size() <= 1) {
            return false;
        }
        long[] lengths = new long[inputs.size()];
        for (int i = 0; i < lengths.length; i++) {
            try (PartContext part = part(context)) {
                lengths[i] = length(translator.processInput(part, inputs.get(i)));
            }
        }
        List<List<Integer>> groups =
                split(IntStream.range(0, lengths.length).boxed().toList(), i -> lengths[i], most);
        if (groups.size() <= 1) {
            return false;
        }
        Object[] outputs = new Object[lengths.length];
        for (List<Integer> group : groups) {
            try (PartContext part = part(context)) {
                List<?> some = predict(translator, part, group, inputs);
                for (int i = 0; i < some.size(); i++) {
                    outputs[group.get(i)] = some.get(i);
                }
            }
        }
        context.setAttachment(OUTPUTS, outputs);
        return true;
    }

    private static List<?> predict(
            Translator<Object, ?> translator, PartContext part, List<Integer> group, List<?> inputs)
            throws Exception {
        NDList batch =
                (NDList)
                        call(
                                translator,
                                "batchProcessInput",
                                List.class,
                                part,
                                group.stream().<Object>map(inputs::get).toList());
        NDList results =
                part.getBlock()
                        .forward(
                                new ParameterStore(part.getPredictorManager(), false),
                                batch,
                                false);
        List<?> outputs =
                (List<?>) call(translator, "batchProcessOutput", NDList.class, part, results);
        checkState(
                outputs.size() == group.size(),
                "%s outputs for a batch of %s inputs",
                outputs.size(),
                group.size());
        return outputs;
    }

    /** Calls a method that DJL 0.27, with which this is compiled, does not have. */
    private static Object call(
            Translator<?, ?> translator, String name, Class<?> type, PartContext part, Object value)
            throws Exception {
        try {
            return Translator.class
                    .getMethod(name, TranslatorContext.class, type)
                    .invoke(translator, part, value);
        } catch (InvocationTargetException e) {
            Throwables.throwIfInstanceOf(e.getCause(), Exception.class);
            throw e;
        }
    }

    private static PartContext part(TranslatorContext call) {
        return new PartContext(call.getModel(), call.getBlock(), call.getPredictorManager());
    }

    /** Returns the outputs that a call's context keeps, in the order of its inputs, or null. */
    static Object[] outputs(TranslatorContext context) {
        return (Object[]) context.getAttachment(OUTPUTS);
    }
}
