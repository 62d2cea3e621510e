package org.djlplan.memplan.internal.djl.purity;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;
import java.lang.ref.Reference;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.AbstractCollection;
import java.util.AbstractList;
import java.util.AbstractMap;
import java.util.AbstractQueue;
import java.util.AbstractSequentialList;
import java.util.AbstractSet;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.slf4j.Logger;

/**
 * Visits everything that objects reference in their fields, collections, arrays and the like,
 * always in the same order. Arrays of the engine, models and other objects that the block does not
 * own are visited but not entered.
 */
public final class ObjectWalk {

    /** Sufficient for any block; a limit in case one references half the heap. */
    private static final int MOST_OBJECTS = 100_000;

    /**
     * The accessible fields of a class and its ancestors; empty for each inaccessible field. The
     * values have only Java's own types: a class keeps its value even if it outlives djl-plan, and
     * types of djl-plan would retain djl-plan's class loader.
     */
    private static final ClassValue<List<Optional<Field>>> FIELDS =
            new ClassValue<>() {
                @Override
                protected List<Optional<Field>> computeValue(Class<?> type) {
                    return fields(type);
                }
            };

    /** Java's own classes without content. */
    private static final ImmutableSet<Class<?>> EMPTY =
            ImmutableSet.of(
                    Object.class,
                    Record.class,
                    Enum.class,
                    AbstractCollection.class,
                    AbstractList.class,
                    AbstractMap.class,
                    AbstractQueue.class,
                    AbstractSequentialList.class,
                    AbstractSet.class);

    /** Methods that read the content of collections and entries of maps. */
    private static final ImmutableSet<String> READING =
            ImmutableSet.of(
                    "comparator",
                    "entrySet",
                    "forEach",
                    "get",
                    "getKey",
                    "getValue",
                    "iterator",
                    "keySet",
                    "size");

    private final Visitor visitor;
    private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Deque<Object> toVisit = new ArrayDeque<>();
    private boolean complete = true;

    /** Receives the visited objects. */
    @FunctionalInterface
    public interface Visitor {

        /**
         * Receives a value each time it is found, although it is entered only once.
         *
         * @param holder that references it
         * @param place a field's name, or empty in a collection
         * @param value never null; numbers are boxed
         */
        void see(Object holder, String place, Object value);
    }

    private ObjectWalk(Visitor visitor) {
        this.visitor = visitor;
    }

    /**
     * Walks.
     *
     * @param roots starting points; they are not passed to the visitor
     * @param statics classes whose static fields are included
     * @return whether everything was visited; false if there is too much, or fields are
     *     inaccessible
     */
    public static boolean walk(Collection<?> roots, Collection<Class<?>> statics, Visitor visitor) {
        ObjectWalk walk = new ObjectWalk(visitor);
        roots.forEach(walk::enter);
        for (Class<?> type : statics) {
            walk.visitFields(type, type, true);
        }
        while (!walk.toVisit.isEmpty() && walk.seen.size() < MOST_OBJECTS) {
            walk.visit(walk.toVisit.poll());
        }
        return walk.complete && walk.toVisit.isEmpty();
    }

    private void show(Object holder, String place, Object value) {
        if (value != null) {
            visitor.see(holder, place, value);
            enter(value);
        }
    }

    private void enter(Object value) {
        if (leadsOn(value) && seen.add(value)) {
            toVisit.add(value);
        }
    }

    private static boolean leadsOn(Object object) {
        return !(object instanceof Number
                || object instanceof CharSequence
                || object instanceof Boolean
                || object instanceof Character
                || object instanceof Logger
                || isForeign(object));
    }

    /**
     * Returns whether an object belongs to DJL or the JVM, or is an array of numbers, and is thus
     * not entered.
     */
    public static boolean isForeign(Object object) {
        return object instanceof NDArray
                || object instanceof NDManager
                || object instanceof Parameter
                || object instanceof Model
                || object instanceof Engine
                || object instanceof Device
                || object instanceof Shape
                || object instanceof Class<?>
                || object instanceof Thread
                || object instanceof ClassLoader
                || (object.getClass().isArray()
                        && object.getClass().getComponentType().isPrimitive());
    }

    /** Returns whether a class is Java's own, with inaccessible fields. */
    public static boolean isPlatform(Class<?> type) {
        String name = type.getName();
        return name.startsWith("java.")
                || name.startsWith("javax.")
                || name.startsWith("jdk.")
                || name.startsWith("sun.")
                || name.startsWith("com.sun.");
    }

    private void visit(Object object) {
        if (object instanceof Object[] elements) {
            for (Object element : elements) {
                show(object, "", element);
            }
            return;
        }
        visitFields(object, object.getClass(), false);
        if (!inheritsContent(object.getClass())) {
            return;
        }
        try {
            if (overridesContent(object.getClass())) {
                complete = false;
            } else {
                visitContent(object);
            }
        } catch (RuntimeException e) {
            // A collection that changes during the visit.
            complete = false;
        }
    }

    private void visitContent(Object object) {
        if (object instanceof Collection<?> elements) {
            elements.forEach(element -> show(object, "", element));
        } else if (object instanceof Map<?, ?> map) {
            map.forEach(
                    (key, value) -> {
                        show(object, "", key);
                        show(object, "", value);
                    });
        } else if (object instanceof Map.Entry<?, ?> entry) {
            show(object, "", entry.getKey());
            show(object, "", entry.getValue());
        } else if (object instanceof Optional<?> optional) {
            optional.ifPresent(value -> show(object, "", value));
        } else if (object instanceof AtomicReference<?> reference) {
            show(object, "", reference.get());
        } else if (object instanceof AtomicReferenceArray<?> references) {
            for (int i = 0; i < references.length(); i++) {
                show(object, "", references.get(i));
            }
        } else if (object instanceof Reference<?> reference) {
            show(object, "", reference.get());
        } else if (PlatformObjects.mayHide(object)) {
            complete = false;
        }
        if (PlatformObjects.callsComparator(object)) {
            complete = false;
        }
    }

    /**
     * Returns whether a class has content in fields of Java's own classes. A user's collection that
     * has its elements in its own fields has none.
     */
    public static boolean inheritsContent(Class<?> type) {
        Class<?> ancestor = type;
        while (!isPlatform(ancestor)) {
            ancestor = ancestor.getSuperclass();
        }
        return ancestor == type || !EMPTY.contains(ancestor);
    }

    /** Returns whether a class has inherited content that only a user's code could read. */
    public static boolean overridesContent(Class<?> type) {
        for (Class<?> at = type;
                !isPlatform(at) && !at.getName().startsWith("ai.djl.");
                at = at.getSuperclass()) {
            for (Method method : at.getDeclaredMethods()) {
                if (READING.contains(method.getName())) {
                    return true;
                }
            }
        }
        return false;
    }

    private void visitFields(Object holder, Class<?> type, boolean statics) {
        for (Optional<Field> field : FIELDS.get(type)) {
            try {
                if (field.isEmpty()) {
                    complete = false;
                } else if (Modifier.isStatic(field.get().getModifiers()) == statics) {
                    show(holder, field.get().getName(), field.get().get(holder));
                }
            } catch (IllegalAccessException | RuntimeException e) {
                complete = false;
            }
        }
    }

    private static List<Optional<Field>> fields(Class<?> type) {
        List<Optional<Field>> fields = new ArrayList<>();
        for (Class<?> at = type; at != null && !isPlatform(at); at = at.getSuperclass()) {
            for (Field field : at.getDeclaredFields()) {
                try {
                    field.setAccessible(true);
                    fields.add(Optional.of(field));
                } catch (RuntimeException e) {
                    fields.add(Optional.empty());
                }
            }
        }
        return fields;
    }
}
