package org.djlplan.integration.torch.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.training.ParameterStore;
import ai.djl.util.NativeResource;
import ai.djl.util.PairList;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.IntFunction;

/** A block of a few steps, most of which make a forward pass differ from the one before. */
final class NastyBlock extends AbstractBlock {

    /** A step of the block. */
    interface Step {

        /**
         * Runs the step.
         *
         * @param lasting a manager that outlives the pass
         */
        NDArray apply(NDArray x, NDManager lasting);
    }

    private static final List<IntFunction<Step>> KINDS =
            List.of(
                    Scaling::new,
                    Counting::new,
                    SkippingLater::new,
                    Casting::new,
                    Caching::new,
                    KeepingLater::new,
                    StaticCounting::new,
                    PerThread::new,
                    KeepingPerThread::new,
                    Collecting::new,
                    Mapping::new,
                    DrawingInJava::new,
                    DrawingArrays::new,
                    ReturningEarly::new,
                    Recursing::new,
                    ChangingInPlace::new,
                    Looking::new);

    private final List<Step> steps;

    private NastyBlock(List<Step> steps) {
        this.steps = steps;
    }

    /**
     * Returns a block of random steps by seed, and clears the state that earlier blocks left
     * behind.
     */
    static NastyBlock of(long seed) {
        StaticCounting.calls = 0;
        PerThread.CALLS.remove();
        Random random = new Random(seed);
        List<Step> steps = new ArrayList<>();
        // Each kind comes first in some block.
        int first = (int) (seed % KINDS.size());
        steps.add(KINDS.get(first).apply(random.nextInt(5)));
        for (int i = random.nextInt(3); i >= 0; i--) {
            steps.add(KINDS.get(random.nextInt(KINDS.size())).apply(random.nextInt(5)));
        }
        return new NastyBlock(steps);
    }

    /** Returns a block of one step. */
    static NastyBlock ofKind(int kind) {
        return new NastyBlock(List.of(KINDS.get(kind).apply(1)));
    }

    static int kinds() {
        return KINDS.size();
    }

    /** Returns a block of given steps. */
    static NastyBlock of(Step... steps) {
        return new NastyBlock(List.of(steps));
    }

    @Override
    protected NDList forwardInternal(
            ParameterStore store,
            NDList inputs,
            boolean training,
            PairList<String, Object> params) {
        NDArray x = inputs.head();
        for (Step step : steps) {
            x = step.apply(x, store.getManager());
        }
        return new NDList(x.add(1));
    }

    @Override
    public Shape[] getOutputShapes(Shape[] inputShapes) {
        return inputShapes;
    }

    @Override
    public String toString() {
        return steps.toString();
    }

    /** Only computes. */
    record Scaling(int number) implements Step {
        @Override
        public NDArray apply(NDArray x, NDManager lasting) {
            NDArray y = x.mul(number + 0.5f);
            return y.add(y.tanh()).sub(x);
        }
    }

    static final class Counting implements Step {

        private int position;

        Counting(int number) {
            position = number;
        }

        @Override
        public NDArray apply(NDArray x, NDManager lasting) {
            position++;
            return x.add(1).add(position);
        }
    }

    /**
     * After some calls, uses a different array; the types and the number of arrays stay the same.
     */
    static final class SkippingLater implements Step {

        private final int from;
        private int position;

        SkippingLater(int number) {
            from = number + 2;
        }

        @Override
        public NDArray apply(NDArray x, NDManager lasting) {
            position++;
            NDArray first = x.add(position);
            NDArray second = first.mul(2);
            NDArray third = second.add(position);
            NDArray fourth = third.add(1);
            return fourth.add(position >= from ? first : third);
        }
    }

    static final class Casting implements Step {

        private int position;

        Casting(int number) {
            position = number;
        }

        @Override
        public NDArray apply(NDArray x, NDManager lasting) {
            position++;
            NDArray y = x.add(position);
            boolean open = ((NativeResource<?>) y).getHandle() != null;
            return open ? y.add(1) : y;
        }
    }

    static final class Caching implements Step {

        private final int number;
        private Optional<NDArray> made = Optional.empty();

        Caching(int number) {
            this.number = number;
        }

        @Override
        public NDArray apply(NDArray x, NDManager lasting) {
            if (made.isEmpty()) {
                NDArray array = x.zerosLike().add(number);
                array.attach(lasting);
                made = Optional.of(array);
            }
            return x.add(1).mul(made.get()).add(x);
        }
    }

    /** After some calls, keeps an array in a field, and reads it from there. */
    static final class KeepingLater implements Step {

        private final int from;
        private int calls;
        private NDArray[] kept = new NDArray[1];

        KeepingLater(int number) {
            from = number + 2;
        }

        @Override
        public NDArray apply(NDArray x, NDManager lasting) {
            calls++;
            NDArray y = x.mul(2);
            NDArray z = y.add(1);
            kept[0] = calls >= from ? y : z;
            NDArray w = z.mul(3).add(calls);
            return w.add(kept[0]);
        }
    }

    static final class StaticCounting implements Step {

        private static int calls;

        private final int number;

        StaticCounting(int number) {
            this.number = number;
        }

        @Override
        public NDArray apply(NDArray x, NDManager lasting) {
            calls++;
            NDArray y = x.add(calls);
            NDArray z = y.mul(2).add(1);
            return z.add(calls > number + 2 ? y : z);
        }
    }

    static final class PerThread implements Step {

        static final ThreadLocal<Integer> CALLS = ThreadLocal.withInitial(() -> 0);

        private final int number;

        PerThread(int number) {
            this.number = number;
        }

        @Override
        public NDArray apply(NDArray x, NDManager lasting) {
            CALLS.set(CALLS.get() + 1);
            NDArray y = x.add(CALLS.get());
            NDArray z = y.mul(2).add(1);
            return z.sub(CALLS.get() > number + 2 ? y : z);
        }
    }

    /**
     * Keeps an array in a thread-local variable, which is not reachable from fields, and reads it
     * in the same pass.
     */
    static final class KeepingPerThread implements Step {

        private static final ThreadLocal<NDArray> KEPT = new ThreadLocal<>();

        private final int from;
        private int calls;

        KeepingPerThread(int number) {
            from = number + 2;
        }

        @Override
        public NDArray apply(NDArray x, NDManager lasting) {
            calls++;
            NDArray y = x.mul(2);
            NDArray z = y.add(calls);
            KEPT.set(calls >= from ? y : z);
            return z.add(2).sub(1).add(KEPT.get());
        }
    }

    static final class Collecting implements Step {

        private final List<Integer> history = new ArrayList<>();
        private final int number;

        Collecting(int number) {
            this.number = number;
        }

        @Override
        public NDArray apply(NDArray x, NDManager lasting) {
            history.add(history.size());
            NDArray y = x.add(history.size());
            NDArray z = y.mul(2).add(1);
            return z.add(history.size() % (number + 2) == 0 ? y : z);
        }
    }

    static final class Mapping implements Step {

        private final Map<Integer, NDArray> made = new HashMap<>();
        private final int number;
        private int calls;

        Mapping(int number) {
            this.number = number + 1;
        }

        @Override
        public NDArray apply(NDArray x, NDManager lasting) {
            calls = (calls + 1) % number;
            NDArray array =
                    made.computeIfAbsent(
                            calls,
                            key -> {
                                NDArray fresh = x.zerosLike().add(key);
                                fresh.attach(lasting);
                                return fresh;
                            });
            return x.mul(2).add(array);
        }
    }

    static final class DrawingInJava implements Step {

        private final Random random;

        DrawingInJava(int number) {
            random = new Random(number);
        }

        @Override
        public NDArray apply(NDArray x, NDManager lasting) {
            NDArray y = x.add(random.nextInt(3));
            NDArray z = y.mul(2).add(1);
            return z.add(random.nextBoolean() ? y : z);
        }
    }

    static final class DrawingArrays implements Step {

        private final int number;
        private int calls;

        DrawingArrays(int number) {
            this.number = number;
        }

        @Override
        public NDArray apply(NDArray x, NDManager lasting) {
            calls++;
            NDArray noise = x.getManager().randomUniform(0, number + 1f, x.getShape());
            NDArray y = x.add(noise);
            NDArray z = y.mul(2).add(1);
            return z.add(calls > number + 2 ? noise : z);
        }
    }

    static final class ReturningEarly implements Step {

        private final int number;
        private int calls;

        ReturningEarly(int number) {
            this.number = number + 2;
        }

        @Override
        public NDArray apply(NDArray x, NDManager lasting) {
            calls++;
            NDArray y = x.mul(2);
            if (calls % number == 0) {
                return y;
            }
            NDArray z = y.add(3).mul(2);
            return z.add(calls % (number + 1) == 0 ? y : z);
        }
    }

    static final class Recursing implements Step {

        private final int number;
        private int calls;

        Recursing(int number) {
            this.number = number + 2;
        }

        @Override
        public NDArray apply(NDArray x, NDManager lasting) {
            calls++;
            return descend(x.add(calls), calls % number);
        }

        private static NDArray descend(NDArray x, int depth) {
            return depth == 0 ? x : descend(x.add(depth), depth - 1).add(x);
        }
    }

    static final class ChangingInPlace implements Step {

        private final int number;
        private int calls;

        ChangingInPlace(int number) {
            this.number = number;
        }

        @Override
        public NDArray apply(NDArray x, NDManager lasting) {
            calls++;
            x.addi(number + calls);
            return x.mul(2).add(x);
        }
    }

    /** Chooses operations by the values of the input, and counts its calls. */
    static final class Looking implements Step {

        private final int number;
        private int calls;

        Looking(int number) {
            this.number = number;
        }

        @Override
        public NDArray apply(NDArray x, NDManager lasting) {
            calls++;
            NDArray y = x.add(number);
            NDArray z = y.mul(2).add(calls);
            float value = z.sum().getFloat();
            return z.add(value > 40 ? y : z);
        }
    }
}
