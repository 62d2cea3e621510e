package org.djlplan.memplan.internal.djl.purity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Block;
import ai.djl.nn.LambdaBlock;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.AbstractList;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.ListIterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
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

    /** A block that computes an array from its first input. */
    private abstract static class Code extends AbstractBlock {

        protected int count;

        abstract NDArray run(NDArray x);

        @Override
        protected NDList forwardInternal(
                ParameterStore store,
                NDList inputs,
                boolean training,
                PairList<String, Object> params) {
            return new NDList(run(inputs.head()));
        }

        @Override
        public Shape[] getOutputShapes(Shape[] inputShapes) {
            return inputShapes;
        }

        @Override
        public String toString() {
            return getClass().getSimpleName();
        }
    }

    static Stream<Block> handlersThatHide() {
        return Stream.of(
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        NDArray h = x.mul(2);
                        NDArray m = h.max();
                        try {
                            return m.getFloat() > 100 ? h.div(m) : m;
                        } catch (RuntimeException e) {
                            return x;
                        }
                    }
                },
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        try {
                            return x.mul(2).add(1);
                        } catch (IllegalArgumentException | IllegalStateException e) {
                            return x;
                        }
                    }
                },
                new Code() {
                    @Override
                    @SuppressWarnings("finally")
                    NDArray run(NDArray x) {
                        try {
                            x = x.mul(2);
                        } finally {
                            return x;
                        }
                    }
                },
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        try {
                            return x.mul(2);
                        } catch (IllegalStateException e) {
                            if (x.isEmpty()) {
                                throw e;
                            }
                            throw new UnsupportedOperationException(e);
                        }
                    }
                },
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        NDArray h = x.mul(2);
                        return h.isReleased() ? x : h;
                    }
                });
    }

    @Test
    void look_exceptionThatReplacesTheErrorIsHidden_isOpaque() {
        assertOpaque(
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        try {
                            return multiplied(x);
                        } catch (RuntimeException e) {
                            return x;
                        }
                    }

                    private NDArray multiplied(NDArray x) {
                        try {
                            return x.mul(2);
                        } catch (IllegalStateException e) {
                            throw new RuntimeException(e);
                        }
                    }
                });
    }

    static Stream<Block> harmlessHandlers() {
        return Stream.of(
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        try {
                            return x.mul(Integer.parseInt(x.getName()));
                        } catch (NumberFormatException e) {
                            return x;
                        }
                    }
                },
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        float scale;
                        try {
                            scale = Float.parseFloat("2");
                        } catch (RuntimeException e) {
                            scale = 1;
                        }
                        return x.mul(scale);
                    }
                },
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        NDArray h = x;
                        List<NDArray> seen = new ArrayList<>();
                        try {
                            h = x.mul(2);
                            seen.add(h);
                        } finally {
                            seen.clear();
                        }
                        return h;
                    }
                },
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        try {
                            return x.mul(2);
                        } catch (Exception e) {
                            throw new RuntimeException("not multiplied", e);
                        }
                    }
                },
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        try (NDManager own = x.getManager().newSubManager()) {
                            return own.ones(x.getShape()).add(x);
                        } catch (RuntimeException e) {
                            throw e;
                        }
                    }
                });
    }

    @ParameterizedTest
    @MethodSource("handlersThatHide")
    void look_errorOfAClosedArrayMayBeHidden_isOpaque(Block block) {
        assertOpaque(block);
    }

    private static void assertOpaque(Block block) {
        BlockCode code = BlockCode.look(block);
        assertEquals(
                Optional.of(Finding.Kind.OPAQUE), code.impurity().map(Finding::kind), "is pure");
    }

    private static void assertPure(Block block) {
        assertEquals(Optional.empty(), BlockCode.look(block).impurity());
    }

    private static void assertNotPure(Block block) {
        assertTrue(BlockCode.look(block).impurity().isPresent(), "is pure");
    }

    @ParameterizedTest
    @MethodSource("harmlessHandlers")
    void look_errorOfAClosedArrayGoesOn_isPure(Block block) {
        List<Finding> opaque =
                BlockCode.look(block).findings().stream()
                        .filter(finding -> finding.what().contains("catch"))
                        .toList();
        assertEquals(List.of(), opaque);
    }

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

    static Stream<Block> hiddenWriters() {
        return Stream.of(
                new Code() {
                    private final List<NDArray> state = new ArrayList<>();

                    @Override
                    NDArray run(NDArray x) {
                        ListIterator<NDArray> iterator = state.listIterator();
                        NDArray last = iterator.next();
                        iterator.set(x.mul(2));
                        return x.add(last);
                    }
                },
                new Code() {
                    private final List<Integer> state = new ArrayList<>();

                    @Override
                    NDArray run(NDArray x) {
                        state.listIterator().add(3);
                        return x.mul(state.size());
                    }
                },
                new Code() {
                    private final Integer[] array = {1};

                    @Override
                    NDArray run(NDArray x) {
                        Arrays.asList(array).set(0, 2);
                        return x.mul(array[0]);
                    }
                },
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        return new NDList(x).head().addi(1);
                    }
                },
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        NDList list = new NDList();
                        list.addAll(List.of(x));
                        return list.get(0).addi(1);
                    }
                },
                new Code() {
                    private final float[] window = {1};

                    @Override
                    NDArray run(NDArray x) {
                        FloatBuffer.wrap(window).put(3);
                        return x.mul(window[0]);
                    }
                },
                new Code() {
                    private final ByteBuffer memory = ByteBuffer.allocate(8);

                    @Override
                    NDArray run(NDArray x) {
                        memory.duplicate().asFloatBuffer().put(0, 3f);
                        return x.mul(memory.getFloat(0));
                    }
                },
                new Code() {
                    private final float[] window = {1};

                    @Override
                    NDArray run(NDArray x) {
                        FloatBuffer.wrap(window).array()[0] = 2;
                        return x.mul(window[0]);
                    }
                },
                new Code() {
                    private final FloatBuffer buffer = FloatBuffer.allocate(8);

                    @Override
                    NDArray run(NDArray x) {
                        return x.mul(buffer.get());
                    }
                },
                new Code() {
                    private final float[] floats = {1};

                    @Override
                    NDArray run(NDArray x) {
                        FloatBuffer.allocate(8).get(floats);
                        return x.mul(floats[0]);
                    }
                },
                new Code() {
                    private final float[] floats = {1};

                    @Override
                    NDArray run(NDArray x) {
                        FloatBuffer.allocate(8).get(0, floats);
                        return x.mul(floats[0]);
                    }
                },
                new Code() {
                    private final FloatBuffer source = FloatBuffer.allocate(8);

                    @Override
                    NDArray run(NDArray x) {
                        return x.mul(FloatBuffer.allocate(8).put(source).get(0));
                    }
                },
                new Code() {
                    private final Integer[] cache = {1};

                    @Override
                    NDArray run(NDArray x) {
                        return x.mul(List.of(count).toArray(cache)[0]);
                    }
                },
                new Code() {
                    private final Integer[] cache = {1};

                    @Override
                    NDArray run(NDArray x) {
                        return x.mul(List.of(count).toArray(size -> cache)[0]);
                    }
                },
                new Code() {
                    private final char[] chars = new char[20];

                    @Override
                    NDArray run(NDArray x) {
                        "digits".getChars(0, 3, chars, 0);
                        return x.mul((int) chars[0]);
                    }
                },
                new Code() {
                    private final List<NDArray> list = new ArrayList<>();

                    @Override
                    NDArray run(NDArray x) {
                        return Stream.of(x).collect(Collectors.toCollection(() -> list)).get(0);
                    }
                });
    }

    @ParameterizedTest
    @MethodSource("hiddenWriters")
    void look_writeThroughAViewOrByReading_isNotPure(Block block) {
        assertNotPure(block);
    }

    static Stream<Block> writersOfTheirOwn() {
        return Stream.of(
                new Code() {
                    @Override
                    NDArray run(NDArray x) {
                        NDList list = new NDList(x.mul(2), x.mul(3));
                        ListIterator<NDArray> iterator = list.listIterator();
                        while (iterator.hasNext()) {
                            iterator.set(iterator.next().add(1));
                        }
                        List<NDArray> both = Arrays.asList(x, list.head());
                        both.set(0, x.mul(2));
                        return both.toArray(new NDArray[0])[0];
                    }
                },
                new Code() {
                    private final float[] table = {1};
                    private final ByteBuffer memory = ByteBuffer.allocate(8);

                    @Override
                    NDArray run(NDArray x) {
                        float[] floats = new float[1];
                        FloatBuffer.wrap(table).get(floats);
                        FloatBuffer own = FloatBuffer.wrap(floats);
                        own.put(0, 3).rewind();
                        ByteBuffer view = memory.duplicate();
                        return x.mul(own.get() + memory.getFloat(0) + view.getFloat())
                                .add(x.getManager().create(FloatBuffer.wrap(table), new Shape(1)));
                    }
                },
                new Code() {
                    private final List<Integer> sizes = List.of(1);

                    @Override
                    NDArray run(NDArray x) {
                        int sum = 0;
                        ListIterator<Integer> iterator = sizes.listIterator();
                        while (iterator.hasNext()) {
                            sum += iterator.next();
                        }
                        return sizes.stream()
                                .map(x::mul)
                                .collect(Collectors.toCollection(NDList::new))
                                .get(sum);
                    }
                });
    }

    @ParameterizedTest
    @MethodSource("writersOfTheirOwn")
    void look_writeIntoAnObjectOfThePass_isPure(Block block) {
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
