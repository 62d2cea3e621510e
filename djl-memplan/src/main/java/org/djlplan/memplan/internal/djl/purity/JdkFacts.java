package org.djlplan.memplan.internal.djl.purity;

import java.lang.reflect.Modifier;
import java.nio.Buffer;
import java.util.Collection;
import java.util.Enumeration;
import java.util.Iterator;
import java.util.ListIterator;
import java.util.Map;
import java.util.Optional;
import java.util.stream.BaseStream;
import org.djlplan.memplan.internal.djl.purity.Fact.Effect;
import org.djlplan.thirdparty.asm.Type;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/**
 * Facts about methods of the JDK that a pure block may call. Functions passed to them are analyzed
 * separately.
 */
final class JdkFacts {

    /** Classes of immutable values, and of static functions of such values. */
    private static final ImmutableSet<String> VALUES =
            names(
                    "java.lang.Boolean java.lang.Byte java.lang.Character java.lang.CharSequence"
                            + " java.lang.Comparable java.lang.Double java.lang.Enum java.lang.Float"
                            + " java.lang.Integer java.lang.Long java.lang.Math java.lang.Number"
                            + " java.lang.Record java.lang.Short java.lang.StrictMath java.lang.String"
                            + " java.math.BigDecimal java.math.BigInteger java.time.Duration"
                            + " java.util.OptionalDouble java.util.OptionalInt java.util.OptionalLong"
                            + " org.slf4j.Logger org.slf4j.LoggerFactory");

    private static final ImmutableMap<String, Effect> OBJECTS =
            ImmutableMap.<String, Effect>builder()
                    .put("java.lang.Object.<init>", Effect.VALUE)
                    .put("java.lang.Object.getClass", Effect.VALUE)
                    .put("java.lang.Object.hashCode", Effect.VALUE)
                    .put("java.lang.Object.equals", Effect.LOOKS)
                    .put("java.lang.Object.toString", Effect.LOOKS)
                    .put("java.lang.Object.clone", Effect.FRESH)
                    .put("java.lang.Class.getName", Effect.VALUE)
                    .put("java.lang.Class.getSimpleName", Effect.VALUE)
                    .put("java.lang.Class.isInstance", Effect.VALUE)
                    .put("java.lang.Class.desiredAssertionStatus", Effect.VALUE)
                    .put("java.lang.AutoCloseable.close", Effect.CHANGES)
                    .put("java.lang.System.arraycopy", Effect.COPIES_TO_THIRD)
                    .put("java.lang.System.identityHashCode", Effect.VALUE)
                    .put("java.lang.System.lineSeparator", Effect.VALUE)
                    .put("java.util.Objects.requireNonNull", Effect.SAME)
                    .put("java.util.Objects.requireNonNullElse", Effect.SAME)
                    .put("java.util.Objects.equals", Effect.LOOKS)
                    .put("java.util.Objects.hash", Effect.VALUE)
                    .put("java.util.Objects.hashCode", Effect.VALUE)
                    .put("java.util.Objects.isNull", Effect.VALUE)
                    .put("java.util.Objects.nonNull", Effect.VALUE)
                    .put("java.util.Objects.toString", Effect.LOOKS)
                    .buildOrThrow();

    private static final ImmutableSet<String> READING =
            names(
                    "charAt codePointAt compareTo contains containsAll containsKey containsValue"
                            + " element entry equals first firstKey forEach get getAsDouble getAsInt"
                            + " getAsLong getFirst getKey getChars getLast getOrDefault getPlain getAcquire"
                            + " getValue hasMoreElements hasNext hasPrevious hashCode ifPresent"
                            + " ifPresentOrElse indexOf isDirect isEmpty isPresent iterator keyAt last"
                            + " lastIndexOf lastKey length hasRemaining capacity remaining"
                            + " orElse orElseGet orElseThrow peek peekFirst peekLast size toString"
                            + " valueAt intValue longValue doubleValue floatValue cardinality nextIndex"
                            + " nextSetBit previousIndex nextClearBit");

    private static final ImmutableSet<String> COPYING =
            names(
                    "clone copyOf copyOfRange empty emptyList emptyMap emptySet entries"
                            + " entry filter flatMap iterator keyArray map nCopies of"
                            + " ofEntries ofNullable range rangeClosed singleton singletonList"
                            + " singletonMap spliterator stream substring toArray toMap unique"
                            + " unmodifiableCollection unmodifiableList unmodifiableMap unmodifiableSet"
                            + " valueArray deepToString binarySearch max min frequency");

    /** Methods that return views, so that changing the result changes both. */
    private static final ImmutableSet<String> VIEWING =
            names(
                    "asList descendingIterator descendingMap descendingSet entrySet headMap headSet"
                            + " keySet keys listIterator reversed subList subMap subSet tailMap"
                            + " tailSet values");

    /** Methods of a buffer that read it, if they have no arguments. */
    private static final ImmutableSet<String> BUFFER_PROPERTIES =
            names(
                    "array arrayOffset capacity hasArray hasRemaining hashCode isDirect isEmpty"
                            + " isReadOnly length limit order position remaining toString");

    /** Methods that write into arrays that they are given. */
    private static final ImmutableSet<String> FILLING =
            names("copyInto get getBytes getChars keyArray toArray toChars valueArray");

    /** The effects of parts of the JDK, by prefix of the class name. */
    private static final ImmutableMap<String, String> STRANGERS =
            ImmutableMap.<String, String>builder()
                    .put("java.lang.ThreadLocal", "keeps something per thread")
                    .put("java.lang.InheritableThreadLocal", "keeps something per thread")
                    .put("java.lang.Thread", "asks for its thread, or works on several")
                    .put("java.util.concurrent.ThreadLocalRandom", "draws random numbers of Java's")
                    .put("java.util.Random", "draws random numbers of Java's")
                    .put("java.util.SplittableRandom", "draws random numbers of Java's")
                    .put("java.util.UUID", "draws random numbers of Java's")
                    .put("java.security.", "draws random numbers of Java's, or reads files")
                    .put("java.io.", "reads or writes files or streams")
                    .put("java.nio.file.", "reads or writes files")
                    .put("java.nio.channels.", "reads or writes files")
                    .put("java.net.", "uses the network")
                    .put("java.lang.reflect.", "uses reflection")
                    .put("java.lang.invoke.", "uses reflection")
                    .put("java.lang.Class", "uses reflection")
                    .put("java.lang.ref.", "watches what is collected")
                    .put("java.time.", "asks the clock")
                    .put("java.util.concurrent.locks.", "uses locks")
                    .buildOrThrow();

    private JdkFacts() {}

    private static ImmutableSet<String> names(String names) {
        return ImmutableSet.copyOf(Splitter.on(' ').split(names));
    }

    /** Returns whether methods of a class are looked up here instead of being analyzed. */
    static boolean cover(Class<?> type) {
        return type.isArray()
                || ObjectWalk.isPlatform(type)
                || type.getName().startsWith("org.slf4j.");
    }

    /** Returns whether no method of a class can fail because of an array. */
    static boolean neverUsesArrays(Class<?> type) {
        String name = type.getName();
        return VALUES.contains(name)
                ? Modifier.isFinal(type.getModifiers()) || name.startsWith("org.slf4j.")
                : Throwable.class.isAssignableFrom(type) && ObjectWalk.isPlatform(type);
    }

    /** Returns whether objects of a class are functions, whose code matters. */
    static boolean isFunction(Class<?> type) {
        String name = type.getName();
        return type.isInterface()
                && (name.startsWith("java.util.function.")
                        || name.equals("java.util.Comparator")
                        || name.equals("java.lang.Runnable")
                        || name.equals("java.util.concurrent.Callable"));
    }

    /**
     * Returns whether objects that a class creates may later call functions that they were given.
     */
    static boolean keepsFunctions(Class<?> type) {
        return isFunction(type) || type.getName().equals("java.util.stream.Collectors");
    }

    /** Returns the effects of a method; empty if they are unknown. */
    static Optional<Fact> of(Class<?> owner, String name, String descriptor) {
        String type = owner.getName();
        if (name.equals("parallelStream")
                || name.equals("parallel")
                || name.startsWith("parallelS")) {
            return Optional.of(Fact.opaque("works on several threads"));
        }
        Effect stated = OBJECTS.get(type + '.' + name);
        if (stated != null) {
            return Optional.of(Fact.of(stated));
        }
        if (owner.isArray()) {
            return Optional.of(Fact.of(Effect.FRESH));
        }
        if (type.equals("java.lang.Math") && name.equals("random")) {
            return Optional.of(Fact.opaque("draws random numbers of Java's"));
        }
        if (type.equals("java.lang.System") && (name.endsWith("Time") || name.endsWith("Millis"))) {
            return Optional.of(Fact.opaque("asks the clock"));
        }
        if (VALUES.contains(type)) {
            return Optional.of(Fact.of(Effect.VALUE));
        }
        if (Throwable.class.isAssignableFrom(owner)) {
            return name.startsWith("print") ? Optional.empty() : Optional.of(Fact.of(Effect.VALUE));
        }
        if (BaseStream.class.isAssignableFrom(owner)
                || type.equals("java.util.stream.Collectors")) {
            if (name.equals("reduce")) {
                return Optional.of(Fact.of(Effect.READS));
            }
            boolean maps = name.startsWith("map") || name.startsWith("flatMap");
            return Optional.of(Fact.of(maps ? Effect.MAPS : Effect.FRESH));
        }
        if (isFunction(owner)) {
            return Optional.of(ofFunction(name));
        }
        if (Buffer.class.isAssignableFrom(owner)) {
            return Optional.of(Fact.of(ofBuffer(name, descriptor)));
        }
        if (ListIterator.class.isAssignableFrom(owner)) {
            return Optional.of(Fact.of(ofListIterator(name)));
        }
        if (isContainer(owner)) {
            return ofContainer(name, descriptor);
        }
        return STRANGERS.entrySet().stream()
                .filter(row -> type.startsWith(row.getKey()))
                .findFirst()
                .map(row -> Fact.opaque(row.getValue()));
    }

    /** Returns the effects of a method that makes a function of others, and of its code. */
    private static Fact ofFunction(String name) {
        if (name.equals("minBy") || name.equals("maxBy")) {
            return Fact.opaque("uses a function of the JDK that returns an argument");
        }
        return Fact.of(name.startsWith("lambda$identity") ? Effect.SAME : Effect.FRESH);
    }

    /** Returns the effect of a buffer's method; most methods move the buffer's position. */
    private static Effect ofBuffer(String name, String descriptor) {
        if (name.startsWith("put") || name.equals("compact") || name.equals("append")) {
            return Effect.CHANGES_THROUGH;
        }
        if (name.equals("wrap") || name.startsWith("allocate")) {
            return Effect.FRESH;
        }
        if (name.equals("duplicate")
                || name.equals("slice")
                || name.equals("alignedSlice")
                || (name.startsWith("as") && name.endsWith("Buffer"))) {
            return Effect.WINDOW;
        }
        boolean atIndex = name.startsWith("get") && descriptor.startsWith("(I");
        boolean asks = descriptor.startsWith("()") && BUFFER_PROPERTIES.contains(name);
        return atIndex || asks || (READING.contains(name) && !name.equals("get"))
                ? Effect.READS
                : Effect.CHANGES;
    }

    /** Returns the effect of a list iterator's method; the iterator is regarded as its list. */
    private static Effect ofListIterator(String name) {
        return name.equals("next") || name.equals("previous") || READING.contains(name)
                ? Effect.READS
                : Effect.CHANGES;
    }

    /** Returns whether a method writes into arrays that it is given, or moves buffers. */
    static boolean fills(Class<?> owner, String name, Type argument) {
        return argument.getSort() == Type.ARRAY
                ? FILLING.contains(name)
                : name.equals("put") && Buffer.class.isAssignableFrom(owner);
    }

    /** Returns whether a method writes into the objects that functions passed to it return. */
    static boolean changesResults(Class<?> owner, String name, Class<?> function) {
        return owner.getName().equals("java.util.stream.Collectors")
                ? function.getName().equals("java.util.function.Supplier")
                : name.equals("toArray");
    }

    private static boolean isContainer(Class<?> type) {
        String name = type.getName();
        return (name.startsWith("java.util.")
                        && (Collection.class.isAssignableFrom(type)
                                || Map.class.isAssignableFrom(type)
                                || Map.Entry.class.isAssignableFrom(type)
                                || Iterator.class.isAssignableFrom(type)
                                || Enumeration.class.isAssignableFrom(type)
                                || name.startsWith("java.util.concurrent.atomic.")))
                || type == Iterable.class
                || type == Optional.class
                || name.equals("java.util.Arrays")
                || name.equals("java.util.Collections")
                || name.equals("java.util.BitSet")
                || name.equals("java.util.StringJoiner")
                || name.equals("java.lang.StringBuilder")
                || name.equals("java.lang.Appendable");
    }

    /** Returns the effects of a method with a name on a collection, an array or the like. */
    static Optional<Fact> ofContainer(String name, String descriptor) {
        if (name.equals("shuffle")) {
            return Optional.of(Fact.opaque("draws random numbers of Java's"));
        }
        if (name.equals("setValue")) {
            // An entry is not distinguished from its map.
            return Optional.of(Fact.opaque("changes an entry of a map"));
        }
        Effect effect = Effect.CHANGES;
        if (COPYING.contains(name)) {
            effect = Effect.FRESH;
        } else if (VIEWING.contains(name)) {
            effect = Effect.SAME;
        } else if (READING.contains(name)) {
            effect = Effect.READS;
        } else if (name.equals("remove") && descriptor.equals("()V")) {
            effect = Effect.CHANGES_HELD;
        }
        return Optional.of(Fact.of(effect));
    }
}
