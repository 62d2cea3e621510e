package org.djlplan.integration.torch.liveness;

import java.io.ByteArrayInputStream;
import java.io.StringReader;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.Comparator;
import java.util.Formattable;
import java.util.Formatter;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.ListIterator;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Random;
import java.util.Scanner;
import java.util.StringJoiner;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Kinds of side effects, each of which makes a number differ from call to call. */
// The calls are made for their side effects only.
@SuppressWarnings({
    "CollectionIncompatibleType",
    "EqualsIncompatibleType",
    "ImmutableEnumChecker",
    "ReturnValueIgnored",
    "StaticAssignmentInConstructor",
    "UnusedVariable"
})
enum SideEffects implements Supplier<SideEffects.Effect> {
    FIELD(Counter::new),
    REPLACED_STRING(Text::new),
    REPLACED_DURATION(Elapsed::new),
    REPLACED_OPTIONAL(Present::new),
    REPLACED_ENUM(Step::new),
    LINKED_NODES(Linked::new),
    THREAD_LOCAL_OF_OWN_CLASS(PerThread::new),
    STATIC_OF_OWN_CLASS(OwnStatic::new),
    INT_ARRAY(
            () -> {
                int[] count = {0};
                return () -> ++count[0];
            }),
    BIT_SET(
            () -> {
                BitSet bits = new BitSet();
                return () -> {
                    bits.set(bits.cardinality());
                    return bits.cardinality();
                };
            }),
    ATOMIC_INTEGER(
            () -> {
                AtomicInteger count = new AtomicInteger();
                return count::incrementAndGet;
            }),
    ATOMIC_ARRAY(
            () -> {
                AtomicIntegerArray counts = new AtomicIntegerArray(1);
                return () -> counts.incrementAndGet(0);
            }),
    LONG_ADDER(
            () -> {
                LongAdder count = new LongAdder();
                return () -> {
                    count.increment();
                    return count.sum();
                };
            }),
    BUFFER_POSITION(
            () -> {
                ByteBuffer buffer = ByteBuffer.allocate(100);
                return () -> buffer.put((byte) 0).position();
            }),
    STRING_BUILDER(
            () -> {
                StringBuilder text = new StringBuilder();
                return () -> text.append('x').length();
            }),
    STRING_JOINER(
            () -> {
                StringJoiner text = new StringJoiner("");
                return () -> text.add("x").length();
            }),
    LIST(
            () -> {
                List<Integer> history = new ArrayList<>();
                return () -> {
                    history.add(0);
                    return history.size();
                };
            }),
    MAP(
            () -> {
                Map<String, Long> counts = new HashMap<>();
                return () -> counts.merge("calls", 1L, Long::sum);
            }),
    CONCURRENT_MAP(
            () -> {
                Map<String, Long> counts = new ConcurrentHashMap<>();
                return () -> counts.compute("calls", (key, old) -> old == null ? 1 : old + 1);
            }),
    DEQUE(
            () -> {
                ArrayDeque<Integer> history = new ArrayDeque<>();
                return () -> {
                    history.push(0);
                    return history.size();
                };
            }),
    ITERATOR(
            () -> {
                Iterator<Integer> numbers = Stream.iterate(1, n -> n + 1).iterator();
                return numbers::next;
            }),
    LIST_ITERATOR(
            () -> {
                List<Integer> count = new ArrayList<>(List.of(0));
                return () -> {
                    ListIterator<Integer> at = count.listIterator();
                    at.set(at.next() + 1);
                    return count.get(0);
                };
            }),
    RANDOM(
            () -> {
                Random random = new Random(3);
                return () -> random.nextInt(8);
            }),
    SCANNER(
            () -> {
                Scanner numbers = new Scanner("1 2 3 4 5 6 7 8 9");
                return numbers::nextInt;
            }),
    INPUT_STREAM(
            () -> {
                ByteArrayInputStream bytes = new ByteArrayInputStream(new byte[] {1, 3, 5, 7});
                return bytes::read;
            }),
    READER(
            () -> {
                StringReader text = new StringReader("\1\2\3\4\5\6\7");
                return () -> unchecked(text::read);
            }),
    PROPERTIES(
            () -> {
                Properties values = new Properties();
                return () -> {
                    values.setProperty("calls", values.getProperty("calls", "") + "x");
                    return values.getProperty("calls").length();
                };
            }),
    FIELD_UPDATER(
            () -> {
                AtomicIntegerFieldUpdater<Volatile> updater =
                        AtomicIntegerFieldUpdater.newUpdater(Volatile.class, "count");
                Volatile holder = new Volatile();
                return () -> updater.incrementAndGet(holder);
            }),
    VAR_HANDLE(
            () -> {
                VarHandle handle =
                        unchecked(
                                () ->
                                        MethodHandles.lookup()
                                                .findVarHandle(Volatile.class, "count", int.class));
                Volatile holder = new Volatile();
                return () -> 1 + (int) handle.getAndAdd(holder, 1);
            }),
    METHOD_HANDLE(
            () -> {
                Counter counter = new Counter();
                MethodHandle next =
                        unchecked(
                                () ->
                                        MethodHandles.lookup()
                                                .unreflect(Effect.class.getMethod("next")));
                return () -> unchecked(() -> (long) next.invoke((Effect) counter));
            }),
    REFLECTION(
            () -> {
                Volatile holder = new Volatile();
                return () ->
                        unchecked(
                                () -> {
                                    Field count = Volatile.class.getDeclaredField("count");
                                    count.setInt(holder, holder.count + 1);
                                    return holder.count;
                                });
            }),
    ITERABLE(
            () -> {
                Counter counter = new Counter();
                Iterable<Long> numbers = () -> List.of(counter.next()).iterator();
                return () -> {
                    long last = 0;
                    for (long number : numbers) {
                        last = number;
                    }
                    return last;
                };
            }),
    AUTO_CLOSEABLE(
            () -> {
                Counter counter = new Counter();
                AutoCloseable closing = counter::next;
                return () -> {
                    unchecked(
                            () -> {
                                try (AutoCloseable resource = closing) {
                                    return resource;
                                }
                            });
                    return counter.count;
                };
            }),
    COMPARABLE(
            () -> {
                Counter counter = new Counter();
                Comparable<Object> first = other -> (int) counter.next();
                return () -> {
                    Arrays.binarySearch(new Object[] {first}, first);
                    return counter.count;
                };
            }),
    COMPARATOR(
            () -> {
                Counter counter = new Counter();
                Comparator<Integer> order = (a, b) -> (int) counter.next();
                return () -> {
                    Collections.max(List.of(1, 2), order);
                    return counter.count;
                };
            }),
    GET_CAUSE(
            () -> {
                Counter counter = new Counter();
                Exception error = new Speaking(counter, true);
                return () -> {
                    new RuntimeException(error).printStackTrace(nowhere());
                    return counter.count;
                };
            }),
    GET_MESSAGE(
            () -> {
                Counter counter = new Counter();
                Exception error = new Speaking(counter, false);
                return () -> {
                    String.valueOf(error);
                    return counter.count;
                };
            }),
    FILL_IN_STACK_TRACE(
            () -> {
                Counter counter = new Counter();
                return () -> {
                    new Tracing(counter).fillInStackTrace();
                    return counter.count;
                };
            }),
    ADD_SUPPRESSED(
            () -> {
                Exception kept = new Exception();
                return () -> {
                    kept.addSuppressed(new Exception());
                    return kept.getSuppressed().length;
                };
            }),
    FORMAT_TO(
            () -> {
                Counter counter = new Counter();
                Formattable shown = new Shown(counter);
                return () -> {
                    String.format("%s", shown);
                    return counter.count;
                };
            }),
    CHAR_SEQUENCE_LENGTH(
            () -> {
                Counter counter = new Counter();
                CharSequence text = new Chars(counter);
                return () -> {
                    "abc".contentEquals(text);
                    return counter.count;
                };
            }),
    USERS_LIST_ADD(
            () -> {
                Recording history = new Recording();
                return () -> {
                    Collections.addAll(history, 1);
                    return history.counter.count;
                };
            }),
    USERS_LIST_SET(
            () -> {
                Recording history = new Recording();
                return () -> {
                    Collections.swap(history, 0, 1);
                    return history.counter.count;
                };
            }),
    USERS_MAP_PUT(
            () -> {
                Tallying counts = new Tallying();
                return () -> {
                    Collections.newSetFromMap(counts).add("x");
                    counts.clear();
                    return counts.counter.count;
                };
            }),
    USERS_MAP_MERGE(
            () -> {
                Tallying counts = new Tallying();
                return () -> {
                    Stream.of("x")
                            .collect(
                                    Collectors.toMap(
                                            key -> key, key -> true, (a, b) -> a, () -> counts));
                    return counts.counter.count;
                };
            }),
    HASH_CODE(
            () -> {
                Key key = new Key(new Counter());
                return () -> {
                    new HashSet<Object>().add(key);
                    return key.counter.count;
                };
            }),
    EQUALS(
            () -> {
                Key key = new Key(new Counter());
                return () -> {
                    List.of(1).contains(key);
                    Optional.of(key).equals(Optional.of(0));
                    return key.counter.count;
                };
            }),
    STREAM_PEEK(
            () -> {
                Counter counter = new Counter();
                return () -> Stream.of(1).map(one -> counter.next()).mapToLong(n -> n).sum();
            }),
    ENUM_VALUE_OF(
            false,
            () -> {
                Color.RED.count = 0;
                return () -> ++Enum.valueOf(Color.class, "RED").count;
            }),
    STATIC_OF_ANOTHER_CLASS(
            false,
            () -> {
                Elsewhere.count = 0;
                return () -> ++Elsewhere.count;
            }),
    SYSTEM_PROPERTY(
            false,
            () -> {
                System.clearProperty("calls");
                return () -> {
                    System.setProperty("calls", System.getProperty("calls", "") + "x");
                    return System.getProperty("calls").length();
                };
            });

    /** A side effect. */
    interface Effect {
        /** Has the side effect, and returns a number that depends on the calls before. */
        long next();
    }

    private final boolean inFields;
    private final Supplier<Effect> fresh;

    SideEffects(Supplier<Effect> fresh) {
        this(true, fresh);
    }

    SideEffects(boolean inFields, Supplier<Effect> fresh) {
        this.inFields = inFields;
        this.fresh = fresh;
    }

    /** Returns whether the state can be reached from the fields of an effect and its classes. */
    boolean isInFields() {
        return inFields;
    }

    /** Returns a new effect that was never called. */
    @Override
    public Effect get() {
        return fresh.get();
    }

    private interface Action<T> {
        T run() throws Throwable;
    }

    private static <T> T unchecked(Action<T> action) {
        try {
            return action.run();
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static java.io.PrintStream nowhere() {
        return new java.io.PrintStream(java.io.OutputStream.nullOutputStream());
    }

    private static final class Counter implements Effect {
        private long count;

        @Override
        public long next() {
            count++;
            return count;
        }
    }

    private static final class Text implements Effect {
        private String text = "";

        @Override
        public long next() {
            text += "x";
            return text.length();
        }
    }

    private static final class Elapsed implements Effect {
        private Duration duration = Duration.ZERO;

        @Override
        public long next() {
            duration = duration.plusSeconds(1);
            return duration.toSeconds();
        }
    }

    private static final class Present implements Effect {
        private Optional<Long> count = Optional.empty();

        @Override
        public long next() {
            count = Optional.of(count.orElse(0L) + 1);
            return count.get();
        }
    }

    private static final class Step implements Effect {
        private Thread.State state = Thread.State.NEW;

        @Override
        public long next() {
            Thread.State[] all = Thread.State.values();
            state = all[(state.ordinal() + 1) % all.length];
            return state.ordinal();
        }
    }

    private static final class Linked implements Effect {
        private Optional<Linked> next = Optional.empty();

        @Override
        public long next() {
            if (next.isPresent()) {
                return 1 + next.get().next();
            }
            next = Optional.of(new Linked());
            return 1;
        }
    }

    private static final class PerThread implements Effect {
        private static final ThreadLocal<Long> COUNT = new ThreadLocal<>();

        PerThread() {
            COUNT.set(0L);
        }

        @Override
        public long next() {
            COUNT.set(COUNT.get() + 1);
            return COUNT.get();
        }
    }

    private static final class OwnStatic implements Effect {
        private static long count;

        OwnStatic() {
            count = 0;
        }

        @Override
        public long next() {
            count++;
            return count;
        }
    }

    private static final class Volatile {
        private volatile int count;
    }

    private static final class Elsewhere {
        private static long count;
    }

    private enum Color {
        RED;

        private long count;
    }

    private static final class Speaking extends Exception {
        private static final long serialVersionUID = 1L;

        private final transient Counter counter;
        private final boolean ofCause;

        Speaking(Counter counter, boolean ofCause) {
            this.counter = counter;
            this.ofCause = ofCause;
        }

        @Override
        public synchronized Throwable getCause() {
            if (ofCause) {
                counter.next();
            }
            return null;
        }

        @Override
        public String getMessage() {
            if (!ofCause) {
                counter.next();
            }
            return "";
        }
    }

    private static final class Tracing extends Exception {
        private static final long serialVersionUID = 1L;

        private final transient Counter counter;

        Tracing(Counter counter) {
            this.counter = counter;
        }

        @Override
        public synchronized Throwable fillInStackTrace() {
            if (counter != null) {
                counter.next();
            }
            return this;
        }
    }

    private record Shown(Counter counter) implements Formattable {
        @Override
        public void formatTo(Formatter formatter, int flags, int width, int precision) {
            counter.next();
        }
    }

    private record Chars(Counter counter) implements CharSequence {
        @Override
        public int length() {
            return (int) counter.next();
        }

        @Override
        public char charAt(int index) {
            return 'x';
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return this;
        }
    }

    private static final class Recording extends ArrayList<Integer> {
        private static final long serialVersionUID = 1L;

        private final transient Counter counter = new Counter();

        Recording() {
            super(List.of(1, 2));
        }

        @Override
        public boolean add(Integer number) {
            counter.next();
            return false;
        }

        @Override
        public Integer set(int index, Integer number) {
            counter.next();
            return number;
        }
    }

    private static final class Tallying extends HashMap<String, Boolean> {
        private static final long serialVersionUID = 1L;

        private final transient Counter counter = new Counter();

        @Override
        public Boolean put(String key, Boolean value) {
            counter.next();
            return super.put(key, value);
        }

        @Override
        public Boolean putIfAbsent(String key, Boolean value) {
            counter.next();
            return null;
        }

        @Override
        public Boolean merge(
                String key,
                Boolean value,
                java.util.function.BiFunction<? super Boolean, ? super Boolean, ? extends Boolean>
                        merging) {
            counter.next();
            return value;
        }
    }

    private static final class Key {
        private final Counter counter;

        Key(Counter counter) {
            this.counter = counter;
        }

        @Override
        public int hashCode() {
            return (int) counter.next();
        }

        @Override
        public boolean equals(Object other) {
            return counter.next() < 0;
        }
    }
}
