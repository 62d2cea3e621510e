package org.djlplan.memplan.internal.lambdas;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.DoubleUnaryOperator;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.IntToLongFunction;
import java.util.function.LongBinaryOperator;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;

/** Lambdas and method references of all kinds, and their results. */
@SuppressWarnings({"UnnecessaryLambda", "ReturnValueIgnored"})
public final class LambdaKinds implements Supplier<List<Object>> {

    private final long number = 7;

    private interface Named {

        String name();

        default Supplier<String> twice() {
            return () -> name() + prefix();
        }

        private String prefix() {
            return "-" + name();
        }
    }

    private static class Base {

        String text() {
            return "base";
        }
    }

    private static final class Derived extends Base {

        @Override
        String text() {
            return "derived";
        }

        Supplier<String> above() {
            return super::text;
        }
    }

    private static final class Pair {

        private final String text;

        private Pair(int one, Long two) {
            text = one + "," + two;
        }
    }

    private enum Letter {
        A,
        B
    }

    @Override
    public List<Object> get() {
        List<Object> all = new ArrayList<>();
        Supplier<Long> field = () -> number;
        all.add(field.get());
        addCaptures(all);
        addConversions(all);
        addReferences(all);
        return all;
    }

    private static void addCaptures(List<Object> all) {
        byte small = 1;
        char letter = 'c';
        boolean yes = true;
        float single = 1.5f;
        double real = 2.5;
        long wide = 1L << 40;
        int[] array = {3};
        Supplier<String> captures =
                () -> "" + small + letter + yes + single + real + wide + array[0];
        all.add(captures.get());
        Function<Integer, Supplier<Integer>> nested = x -> () -> x + array[0];
        all.add(nested.apply(4).get());
        Consumer<Object> adds = all::add;
        adds.accept("added");
        BooleanSupplier captured = Boolean.valueOf(yes)::booleanValue;
        all.add(captured.getAsBoolean());
    }

    private static void addConversions(List<Object> all) {
        ToLongFunction<Integer> unboxesAndWidens = x -> x;
        all.add(unboxesAndWidens.applyAsLong(5));
        ToDoubleFunction<Long> reference = Long::doubleValue;
        all.add(reference.applyAsDouble(6L));
        IntToLongFunction widens = Math::abs;
        all.add(widens.applyAsLong(-8));
        IntFunction<Object> boxes = Math::negateExact;
        all.add(boxes.apply(9));
        BiFunction<Integer, Integer, Integer> sum = Math::addExact;
        all.add(sum.apply(1, 2));
        LongBinaryOperator longs = Math::max;
        all.add(longs.applyAsLong(10, 11));
        DoubleUnaryOperator half = x -> x / 2;
        all.add(half.applyAsDouble(3));
        Comparator<Character> compares = Character::compare;
        all.add(compares.compare('a', 'a'));
        ToIntFunction<Short> shorts = Short::intValue;
        all.add(shorts.applyAsInt((short) 12));
        Predicate<Boolean> unboxes = x -> x;
        all.add(unboxes.test(true));
        Function<Byte, Object> bytes = x -> x + 1;
        all.add(bytes.apply((byte) 13));
    }

    private static Object called(Callable<Object> callable) {
        try {
            return callable.call();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static void addReferences(List<Object> all) {
        Function<String, Integer> unbound = String::length;
        all.add(unbound.apply("four"));
        Supplier<List<Object>> creates = ArrayList::new;
        all.add(creates.get());
        IntFunction<long[]> array = long[]::new;
        all.add(array.apply(2).length);
        BiFunction<Integer, Long, Pair> ofTwo = Pair::new;
        all.add(ofTwo.apply(1, 2L).text);
        Named named = () -> "name";
        all.add(named.twice().get());
        Supplier<String> bound = named::name;
        all.add(bound.get());
        all.add(new Derived().above().get());
        Function<String, Letter> constant = Letter::valueOf;
        all.add(constant.apply("B").name());
        Callable<Object> counts = () -> all.size();
        all.add(called(counts));
        Consumer<String> dropsABoolean = all::add;
        dropsABoolean.accept("dropped");
        AtomicLong number = new AtomicLong(14);
        Runnable dropsALong = number::incrementAndGet;
        dropsALong.run();
        all.add(number.get());
        UnaryOperator<String> same = UnaryOperator.identity();
        all.add(same.apply("same"));
        Supplier<String> serializable = (Supplier<String> & Serializable) () -> "serializable";
        all.add(serializable.get());
        Supplier<Supplier<String>> outer = () -> () -> "inner";
        all.add(outer.get().get());
    }
}
