package org.djlplan.integration.torch.liveness;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Supplier;
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
    BUFFER_POSITION(
            () -> {
                ByteBuffer buffer = ByteBuffer.allocate(100);
                return () -> buffer.put((byte) 0).position();
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
    ITERATOR(
            () -> {
                Iterator<Integer> numbers = Stream.iterate(1, n -> n + 1).iterator();
                return numbers::next;
            }),
    RANDOM(
            () -> {
                Random random = new Random(3);
                return () -> random.nextInt(8);
            }),
    FIELD_UPDATER(
            () -> {
                AtomicIntegerFieldUpdater<Volatile> updater =
                        AtomicIntegerFieldUpdater.newUpdater(Volatile.class, "count");
                Volatile holder = new Volatile();
                return () -> updater.incrementAndGet(holder);
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
    USERS_LIST_ADD(
            () -> {
                Recording history = new Recording();
                return () -> {
                    Collections.addAll(history, 1);
                    return history.counter.count;
                };
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
    }
}
