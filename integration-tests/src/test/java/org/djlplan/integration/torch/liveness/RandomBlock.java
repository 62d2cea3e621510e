package org.djlplan.integration.torch.liveness;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDScope;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A user's block that runs random operations on matrices: a seed determines which. Some blocks also
 * count their calls, and compute with the count, or keep an array for the next call.
 */
final class RandomBlock extends AbstractBlock {

    private static final int OPERATIONS = 14;
    private static final int MOST_STEPS = 40;

    /** The calls of all blocks, which no field of a block shows. */
    static final class Calls {

        static final AtomicInteger COUNT = new AtomicInteger();

        private Calls() {}
    }

    private final long seed;
    private final boolean counts;
    private final boolean keeps;
    private NDList kept = new NDList();
    private int calls;

    RandomBlock(long seed) {
        this.seed = seed;
        counts = seed % 5 == 3;
        keeps = seed % 5 == 4;
    }

    /** Returns whether calls do not affect each other. */
    boolean isStateless() {
        return !counts && !keeps;
    }

    @Override
    protected NDList forwardInternal(
            ParameterStore store,
            NDList inputs,
            boolean training,
            PairList<String, Object> params) {
        Calls.COUNT.incrementAndGet();
        calls += counts ? 1 : 0;
        Random random = new Random(seed);
        List<NDArray> pool = new ArrayList<>(inputs);
        if (counts) {
            pool.add(inputs.head().mul(calls));
        } else if (keeps) {
            pool.add(inputs.head().add(keep(store, inputs.head().sum())));
        }
        for (int i = random.nextInt(MOST_STEPS); i >= 0; i--) {
            NDArray one = pool.get(random.nextInt(pool.size()));
            NDArray other = pool.get(random.nextInt(pool.size()));
            pool.add(operation(random.nextInt(OPERATIONS), one, other).mul(0.5f));
            if (pool.size() > 1 && random.nextInt(3) == 0) {
                pool.remove(random.nextInt(pool.size()));
            }
        }
        NDList outputs = new NDList();
        for (int i = random.nextInt(3); i >= 0; i--) {
            outputs.add(pool.get(random.nextInt(pool.size())));
        }
        return outputs;
    }

    /** Keeps the sum of all arrays that were passed, which is returned. */
    private NDArray keep(ParameterStore store, NDArray more) {
        NDArray sum = kept.isEmpty() ? more : kept.head().add(more);
        sum.attach(store.getManager());
        kept = new NDList(sum);
        return sum;
    }

    private static NDArray operation(int number, NDArray one, NDArray other) {
        NDManager manager = one.getManager();
        Shape shape = one.getShape();
        return switch (number) {
            case 0 -> one.add(other);
            case 1 -> one.sub(other).square();
            case 2 -> one.reshape(-1).add(1).reshape(shape);
            case 3 -> one.transpose().add(1).transpose();
            case 4 -> one.duplicate().addi(other);
            case 5 -> one.concat(other).get(":" + shape.get(0));
            case 6 -> one.max(new int[] {1}, true).add(other);
            case 7 -> one.softmax(1).getNDArrayInternal().relu();
            case 8 -> {
                NDArray rows = manager.arange((int) shape.get(0)).toType(DataType.INT64, true);
                yield one.get(new NDIndex("{}", rows)).add(other);
            }
            case 9 -> {
                NDArray split = other.split(new long[] {1}, 1).get(0);
                yield one.add(split);
            }
            case 10 -> {
                try (NDManager own = manager.newSubManager()) {
                    NDArray sum = own.ones(shape).add(other);
                    sum.attach(manager);
                    yield sum;
                }
            }
            case 11 -> {
                try (NDScope scope = new NDScope()) {
                    scope.suppressNotUsedWarning();
                    NDArray sum = one.mul(3).add(other);
                    NDScope.unregister(sum);
                    yield sum;
                }
            }
            case 12 -> {
                NDArray view = manager.create(new float[(int) shape.size()]).reshape(shape);
                yield view.add(one);
            }
            default -> {
                NDArray mask = one.gt(other);
                NDArray copy = other.duplicate();
                copy.set(mask, 1);
                yield copy;
            }
        };
    }

    @Override
    public Shape[] getOutputShapes(Shape[] inputs) {
        return inputs;
    }
}
