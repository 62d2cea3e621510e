package org.djlplan.memplan.internal.djl.purity;

import static org.djlplan.memplan.internal.djl.purity.Code.assertNotPure;
import static org.djlplan.memplan.internal.djl.purity.Code.assertPure;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.nn.Block;
import ai.djl.nn.LambdaBlock;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.nio.FloatBuffer;
import java.util.AbstractList;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests which blocks are known to be pure. Each block has a class of its own, because functions of
 * the same type in one class cannot be distinguished.
 */
@SuppressWarnings({
    // The blocks are read, not run, and each is written as a user may write it.
    "EffectivelyPrivate",
    "ImmutableEnumChecker",
    "ModifiedButNotUsed",
    "MutablePublicArray",
    "UnnecessaryLambda",
    "UnusedMethod",
    "UnusedVariable"
})
class BlockCodeTest {

    static Stream<Block> countingInCombinedFunctions() {
        return Stream.of(
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        Function<NDArray, NDArray> f =
                                a -> {
                                    count++;
                                    return a.tanh();
                                };
                        return f.andThen(NDArray::exp).apply(x);
                    }
                },
                new Code() {
                    private final Function<NDArray, NDArray> f =
                            a -> {
                                count++;
                                return a.exp();
                            };

                    @Override
                    NDArray run(NDArray x) {
                        return f.andThen(NDArray::exp).apply(x);
                    }
                },
                new Code() {
                    private final Function<NDArray, NDArray> f =
                            a -> {
                                count++;
                                return a.exp();
                            };

                    @Override
                    NDArray run(NDArray x) {
                        return apply(f, x);
                    }

                    private NDArray apply(Function<NDArray, NDArray> function, NDArray x) {
                        return function.compose(NDArray::exp).apply(x);
                    }
                },
                new Code() {
                    private final NDList kept = new NDList();

                    @Override
                    NDArray run(NDArray x) {
                        Consumer<NDArray> keep = kept::add;
                        keep.andThen(a -> a.setName("x")).accept(x.mul(2));
                        return x;
                    }
                },
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        Predicate<NDArray> test = a -> count++ > 0;
                        return test.negate().or(a -> a.isEmpty()).test(x) ? x : x.mul(2);
                    }
                },
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        List<NDArray> all = new ArrayList<>(List.of(x, x.mul(2)));
                        Comparator<NDArray> order = (a, b) -> count++;
                        all.sort(order.thenComparing(NDArray::getName));
                        return all.get(0);
                    }
                },
                new Code() {
                    private NDArray kept = null;

                    @Override
                    NDArray run(NDArray x) {
                        Function<NDArray, NDArray> f = a -> kept;
                        return f.compose(NDArray::exp).apply(x).addi(1);
                    }
                },
                new Code() {
                    private final Function<NDArray, NDArray> f = Function.identity();

                    @Override
                    NDArray run(NDArray x) {
                        return f.apply(x).addi(1);
                    }
                },
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        Function<NDArray, NDArray> f = Function.identity();
                        return f.andThen(a -> a.reshape(-1)).apply(x).addi(1);
                    }
                },
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        return new Doubling().andThen(this::counted).apply(x);
                    }

                    private NDArray counted(NDArray x) {
                        count++;
                        return x;
                    }
                });
    }

    private static final class Doubling implements Function<NDArray, NDArray> {
        @Override
        public NDArray apply(NDArray x) {
            return x.mul(2);
        }
    }

    static Stream<Block> combinedFunctions() {
        return Stream.of(
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        Function<NDArray, NDArray> f = a -> a.mul(count);
                        return f.andThen(NDArray::exp).compose(NDArray::abs).apply(x);
                    }
                },
                new Code() {
                    private final Function<NDArray, NDArray> f = NDArray::exp;

                    @Override
                    NDArray run(NDArray x) {
                        Predicate<NDArray> test = NDArray::isEmpty;
                        return test.negate().test(x) ? f.andThen(NDArray::abs).apply(x) : x;
                    }
                },
                new Code() {
                    private final Function<NDArray, NDArray> f = Function.identity();

                    @Override
                    NDArray run(NDArray x) {
                        return f.apply(x).add(1);
                    }
                },
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        Function<NDArray, NDArray> f = Function.identity();
                        return new Doubling().andThen(f).apply(x);
                    }
                });
    }

    @ParameterizedTest
    @MethodSource("countingInCombinedFunctions")
    void look_combinedFunctionWithAnEffect_isNotPure(Block block) {
        assertNotPure(block);
    }

    @ParameterizedTest
    @MethodSource("combinedFunctions")
    void look_combinedFunctionWithoutEffect_isPure(Block block) {
        assertPure(block);
    }

    /** A child whose class the outer block's code does not name. */
    private static final class Child extends Code {
        @Override
        NDArray run(NDArray x) {
            count++;
            return x;
        }
    }

    private static Block child() {
        return new Child();
    }

    /** Runs a block that it finds somewhere. */
    private abstract static class Finder extends Code {

        abstract Block find();

        @Override
        NDArray run(NDArray x) {
            return find().forward(new ParameterStore(), new NDList(x), false).head();
        }

        @Override
        protected NDList forwardInternal(
                ParameterStore store,
                NDList inputs,
                boolean training,
                PairList<String, Object> params) {
            return find().forward(store, inputs, false);
        }
    }

    private static int acts;

    private enum Act {
        COUNTING(
                a -> {
                    acts++;
                    return a;
                });

        private final Function<NDArray, NDArray> function;

        Act(Function<NDArray, NDArray> function) {
            this.function = function;
        }
    }

    static Stream<Block> holdersOfHiddenObjects() {
        return Stream.of(
                new Finder() {
                    private final List<Map.Entry<String, Block>> stages =
                            List.of(new AbstractMap.SimpleEntry<>("a", child()));

                    @Override
                    Block find() {
                        return stages.get(0).getValue();
                    }
                },
                new Finder() {
                    private final Map.Entry<String, Block> stage = Map.entry("a", child());

                    @Override
                    Block find() {
                        return stage.getValue();
                    }
                },
                new Finder() {
                    private final AtomicReferenceArray<Block> stages =
                            new AtomicReferenceArray<>(new Block[] {child()});

                    @Override
                    Block find() {
                        return stages.get(0);
                    }
                },
                new Finder() {
                    private final CompletableFuture<Block> stage =
                            CompletableFuture.completedFuture(child());

                    @Override
                    Block find() {
                        return stage.join();
                    }
                },
                new Finder() {
                    private final Model model = null;

                    @Override
                    Block find() {
                        return model.getBlock();
                    }
                },
                new Code() {
                    private final Predicate<NDArray> test = odd().negate();
                    private final Predicate<NDArray> other = NDArray::isEmpty;

                    private Predicate<NDArray> odd() {
                        return a -> count++ > 0;
                    }

                    @Override
                    NDArray run(NDArray x) {
                        return test.test(x) && other.test(x) ? x : x.mul(2);
                    }
                },
                new Code() {
                    private final Act act = Act.COUNTING;
                    private final Function<NDArray, NDArray> other = NDArray::exp;

                    @Override
                    NDArray run(NDArray x) {
                        return other.apply(act.function.apply(x));
                    }
                },
                new Code() {
                    private final Map<String, Float> scales = new TreeMap<>((a, b) -> count++);

                    @Override
                    NDArray run(NDArray x) {
                        return x.mul(scales.get("a"));
                    }
                });
    }

    @ParameterizedTest
    @MethodSource("holdersOfHiddenObjects")
    void look_effectInAnObjectOfJavasOwnClasses_isNotPure(Block block) {
        assertNotPure(block);
    }

    static Stream<Block> holdersOfHarmlessObjects() {
        return Stream.of(
                new Code() {
                    private final List<Map.Entry<String, Block>> stages =
                            List.of(Map.entry("a", new LambdaBlock(list -> list)));
                    private final Object[] others = {
                        java.nio.file.Path.of("a"),
                        java.util.regex.Pattern.compile("a"),
                        new java.util.Random(1),
                        java.time.Duration.ofDays(1),
                        java.time.LocalDate.EPOCH,
                        new java.util.concurrent.locks.ReentrantLock(),
                        java.util.Locale.ROOT,
                        java.nio.charset.StandardCharsets.UTF_8,
                        String.CASE_INSENSITIVE_ORDER,
                        new TreeMap<String, String>(Comparator.reverseOrder()),
                        Comparator.<String>naturalOrder(),
                        new java.util.BitSet(),
                        FloatBuffer.allocate(1),
                        java.util.UUID.randomUUID(),
                        java.net.URI.create("a"),
                        new java.text.DecimalFormat("0"),
                        Thread.State.NEW
                    };

                    @Override
                    NDArray run(NDArray x) {
                        return x.mul(others.length + stages.size());
                    }
                });
    }

    @ParameterizedTest
    @MethodSource("holdersOfHarmlessObjects")
    void look_harmlessObjectsOfJavasOwnClasses_isPure(Block block) {
        assertPure(block);
    }

    private interface Scaling {
        default NDArray scale(NDArray x) {
            return x.mul(2);
        }
    }

    private interface CountingScaling extends Scaling {
        int[] CALLS = {0};

        @Override
        default NDArray scale(NDArray x) {
            CALLS[0]++;
            return x.mul(2);
        }
    }

    private abstract static class BothScalings extends Code implements Scaling, CountingScaling {}

    /** Its elements are in its own fields. */
    private static class CountingList extends AbstractList<NDArray> {

        private final NDArray[] arrays;
        private int reads;

        CountingList(NDArray... arrays) {
            this.arrays = arrays;
        }

        @Override
        public NDArray get(int index) {
            reads++;
            return arrays[index];
        }

        @Override
        public int size() {
            return arrays.length;
        }
    }

    /** Fails if the analysis reads it. */
    private static final class FailingList extends AbstractList<NDArray> {

        private final Object[] elements = {"element"};

        @Override
        public NDArray get(int index) {
            throw new AssertionError("the analysis runs user code");
        }

        @Override
        public int size() {
            throw new AssertionError("the analysis runs user code");
        }
    }

    private static final class CountingIterable implements Iterable<NDArray> {

        private final int[] steps = {0};

        @Override
        public Iterator<NDArray> iterator() {
            return new Iterator<>() {
                @Override
                public boolean hasNext() {
                    return false;
                }

                @Override
                public NDArray next() {
                    steps[0]++;
                    throw new NoSuchElementException();
                }
            };
        }
    }

    private static final class Evicting extends LinkedHashMap<String, NDArray> {

        private static final long serialVersionUID = 1;

        private static int evictions;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, NDArray> eldest) {
            return evictions++ > 0;
        }
    }

    private interface Step {
        NDArray apply(NDArray x);

        default NDArray twice(NDArray x) {
            return apply(apply(x));
        }

        default NDArray counted(NDArray x) {
            acts++;
            return apply(x);
        }
    }

    private static final class OwnStep implements Step {
        @Override
        public NDArray apply(NDArray x) {
            return x.mul(2);
        }

        @Override
        public NDArray counted(NDArray x) {
            return x;
        }
    }

    static Stream<Block> indirectCalls() {
        CountingList counting = new CountingList();
        return Stream.of(
                new BothScalings() {
                    @Override
                    NDArray run(NDArray x) {
                        return scale(x);
                    }
                },
                new Code() {
                    private final Step own = new OwnStep();

                    @Override
                    NDArray run(NDArray x) {
                        Step step = NDArray::exp;
                        return step.counted(own.apply(x));
                    }
                },
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        return new NDList(counting).head();
                    }
                },
                new Code() {
                    private final List<NDArray> list = counting;

                    @Override
                    NDArray run(NDArray x) {
                        return List.copyOf(list).get(0);
                    }
                },
                new Code() {
                    private final List<NDArray> list = counting;

                    @Override
                    NDArray run(NDArray x) {
                        return list.stream().reduce(x, NDArray::add);
                    }
                },
                new Code() {
                    private final CountingIterable iterable = new CountingIterable();

                    @Override
                    NDArray run(NDArray x) {
                        iterable.forEach(NDArray::exp);
                        return x;
                    }
                },
                new Code() {
                    private final Iterable<NDArray> iterable = List.of();

                    @Override
                    NDArray run(NDArray x) {
                        Iterable<NDArray> own = iterable == null ? null : new CountingIterable();
                        own.forEach(a -> count++);
                        return x;
                    }
                },
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        Map<String, NDArray> map = new Evicting();
                        map.put("x", x);
                        return map.get("x");
                    }
                },
                new GenericHolder());
    }

    /** Has two functions that capture nothing; the one in the field is a generic method's. */
    private static final class GenericHolder extends Code {

        private final Function<NDList, NDList> function = generic();

        private static <T> Function<T, T> generic() {
            return x -> {
                ((NDList) x).head().addi(1);
                return x;
            };
        }

        static Function<NDList, NDList> harmless() {
            return list -> new NDList(list.head().add(1));
        }

        @Override
        NDArray run(NDArray x) {
            return function.apply(new NDList(x)).head();
        }
    }

    @ParameterizedTest
    @MethodSource("indirectCalls")
    void look_effectInAMethodThatIsCalledIndirectly_isNotPure(Block block) {
        assertNotPure(block);
    }

    @Test
    void look_functionWithADefaultMethod_isPure() {
        assertPure(
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        Step step = a -> a.mul(2);
                        return step.twice(x);
                    }
                });
    }

    @Test
    void look_collectionOfTheUsers_isNotRun() {
        Block block =
                new Code() {
                    private final List<NDArray> list = new FailingList();

                    @Override
                    NDArray run(NDArray x) {
                        return list.isEmpty() ? x : x.mul(2);
                    }
                };
        assertPure(block);
    }
}
