package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.internal.NDArrayEx;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Parameter;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
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
import java.util.regex.Pattern;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Visits everything that an object references in its fields, always in the same order: numbers and
 * texts, arrays, objects of DJL's and of users' classes with their static fields, and Java's
 * ordinary collections. The walk ends at any other object of Java's own classes, because changes in
 * it cannot be seen.
 */
final class ObjectWalk {

    private static final Logger logger = LoggerFactory.getLogger(ObjectWalk.class);

    /** Sufficient for any block; a limit in case one references half the heap. */
    private static final int MOST_OBJECTS = 100_000;

    /** Larger arrays of numbers would make each copy of a block's state expensive. */
    static final int MOST_NUMBERS = 1 << 16;

    /** Collections whose iterators run only Java's code, and always have the same order. */
    private static final Pattern COLLECTIONS =
            Pattern.compile(
                    "ai\\.djl\\.ndarray\\.NDList|java\\.util\\.(ArrayList|LinkedList"
                            + "|(Linked)?Hash(Map|Set)|Arrays\\$ArrayList"
                            + "|ImmutableCollections\\$\\w+|Collections\\$(Empty|Singleton)\\w+)");

    private static final ImmutableSet<Class<?>> VALUES =
            ImmutableSet.of(
                    Boolean.class,
                    Byte.class,
                    Character.class,
                    Class.class,
                    Double.class,
                    Float.class,
                    Integer.class,
                    Long.class,
                    Short.class,
                    String.class);

    private static final ImmutableSet<Class<?>> ROOTS =
            ImmutableSet.of(Object.class, Record.class, Enum.class);

    /**
     * The fields of a class and its ancestors; empty if some are inaccessible. The values have only
     * Java's own types: a class keeps its value even if it outlives djl-plan, and types of djl-plan
     * would retain djl-plan's class loader.
     */
    private static final ClassValue<Optional<List<Field>>> FIELDS =
            new ClassValue<>() {
                @Override
                protected Optional<List<Field>> computeValue(Class<?> type) {
                    return fields(type);
                }
            };

    /** Receives the visited objects. */
    @FunctionalInterface
    interface Visitor {

        /**
         * Receives a value each time it is found, although it is entered only once.
         *
         * @param place the field in which it was found, directly or in a collection
         * @param value never null; numbers are boxed
         * @return the object that replaces it, if the place can be changed; usually itself
         */
        Object see(String place, Object value);
    }

    private record Visit(String place, Object object) {}

    private final Visitor visitor;
    private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Deque<Visit> toVisit = new ArrayDeque<>();
    private Optional<String> unseen = Optional.empty();

    private ObjectWalk(Visitor visitor) {
        this.visitor = visitor;
    }

    /**
     * Walks from an object, which itself is not passed to the visitor.
     *
     * @return the first field whose content cannot be seen completely, and why; empty if all was
     *     visited
     */
    static Optional<String> walk(Object root, Visitor visitor) {
        ObjectWalk walk = new ObjectWalk(visitor);
        walk.enter(root.getClass().getName(), root);
        while (walk.unseen.isEmpty() && !walk.toVisit.isEmpty()) {
            Visit next = walk.toVisit.poll();
            try {
                walk.visit(next.place(), next.object());
            } catch (ReflectiveOperationException | RuntimeException e) {
                // For example, a collection that another thread changes during the visit.
                walk.refuse(next.place(), "cannot be read");
            }
        }
        return walk.unseen;
    }

    private void refuse(String place, String why) {
        if (unseen.isEmpty()) {
            unseen = Optional.of(place + ' ' + why);
        }
    }

    private Object follow(String place, Object value) {
        if (value == null) {
            return null;
        }
        Object replaced = visitor.see(place, value);
        enter(place, replaced);
        return replaced;
    }

    private void enter(String place, Object object) {
        if (!isLeaf(object) && seen.add(object)) {
            toVisit.add(new Visit(place, object));
            if (seen.size() > MOST_OBJECTS) {
                refuse(place, "leads to more than " + MOST_OBJECTS + " objects");
            }
        }
    }

    /** Returns whether an object is a number, a text or a class. */
    static boolean isValue(Object object) {
        return VALUES.contains(object.getClass());
    }

    /** Returns whether an object is a value, or belongs to DJL's model or engine. */
    private static boolean isLeaf(Object object) {
        return isValue(object)
                || object.getClass() == Object.class
                || (object instanceof Enum<?> && !isUsers(object.getClass()))
                || object instanceof NDArray
                || object instanceof NDArrayEx
                || object instanceof NDManager
                || object instanceof Parameter
                || object instanceof Model
                || object instanceof Engine
                || object instanceof Device
                || object instanceof Shape
                || object instanceof Logger;
    }

    private static boolean isPlatform(Class<?> type) {
        String name = type.getName();
        return name.startsWith("java.")
                || name.startsWith("javax.")
                || name.startsWith("jdk.")
                || name.startsWith("sun.")
                || name.startsWith("com.sun.");
    }

    /** Returns whether an object may run code of neither Java nor DJL. */
    static boolean isUsers(Object object) {
        return !isLeaf(object) && !object.getClass().isArray() && isUsers(object.getClass());
    }

    private static boolean isUsers(Class<?> type) {
        return !isPlatform(type) && !DjlClasses.contain(type);
    }

    private void visit(String place, Object object) throws ReflectiveOperationException {
        Class<?> type = object.getClass();
        if (type.isArray()) {
            visitArray(place, object);
        } else if (COLLECTIONS.matcher(type.getName()).matches()) {
            visitCollection(place, object);
        } else if (object instanceof Optional<?> optional) {
            optional.ifPresent(content -> follow(place, content));
        } else if (isPlatform(type) || !ROOTS.contains(rootOf(type))) {
            refuse(place, "has a " + nameOf(type) + ", whose changes djl-plan cannot see");
        } else {
            visitObject(place, object);
        }
    }

    private void visitArray(String place, Object array) {
        int length = Array.getLength(array);
        if (array instanceof Object[] elements) {
            for (int i = 0; i < length; i++) {
                Object old = elements[i];
                Object replaced = follow(place, old);
                if (replaced != old) {
                    elements[i] = replaced;
                }
            }
        } else if (length > MOST_NUMBERS) {
            refuse(place, "has more than " + MOST_NUMBERS + " numbers");
        }
    }

    @SuppressWarnings("unchecked")
    private void visitCollection(String place, Object collection) {
        if (collection instanceof List<?> list) {
            List<Object> elements = (List<Object>) list;
            for (int i = 0; i < elements.size(); i++) {
                Object old = elements.get(i);
                Object replaced = follow(place, old);
                if (replaced != old) {
                    int at = i;
                    replace(() -> elements.set(at, replaced));
                }
            }
        } else if (collection instanceof Map<?, ?> map) {
            for (Map.Entry<Object, Object> entry : ((Map<Object, Object>) map).entrySet()) {
                follow(place, entry.getKey());
                Object old = entry.getValue();
                Object replaced = follow(place, old);
                if (replaced != old) {
                    replace(() -> entry.setValue(replaced));
                }
            }
        } else {
            ((Collection<?>) collection).forEach(element -> follow(place, element));
        }
    }

    private static void replace(Runnable replacement) {
        try {
            replacement.run();
        } catch (UnsupportedOperationException e) {
            // An immutable collection keeps its content.
            logger.trace("Not replaced", e);
        }
    }

    private void visitObject(String place, Object object) throws ReflectiveOperationException {
        visitFields(place, object.getClass(), object);
        Class<?> code = declaring(object.getClass());
        if (isUsers(code) && seen.add(code)) {
            visitFields(place, code, code);
        }
    }

    /**
     * Visits the fields of an object, or the static ones of a user's class.
     *
     * @param place that led to it
     */
    private void visitFields(String place, Class<?> type, Object holder)
            throws IllegalAccessException {
        Optional<List<Field>> fields = FIELDS.get(type);
        if (fields.isEmpty()) {
            refuse(place, "has a " + nameOf(type) + ", whose fields djl-plan may not read");
            return;
        }
        boolean statics = holder == type;
        for (Field field : fields.get()) {
            Class<?> owner = field.getDeclaringClass();
            if (Modifier.isStatic(field.getModifiers()) == statics
                    && !(statics && !isUsers(owner))) {
                Object old = field.get(holder);
                Object replaced = follow(nameOf(owner) + '.' + field.getName(), old);
                if (replaced != old && !Modifier.isFinal(field.getModifiers())) {
                    field.set(holder, replaced);
                }
            }
        }
    }

    private static Optional<List<Field>> fields(Class<?> type) {
        List<Field> fields = new ArrayList<>();
        try {
            for (Class<?> at = type; at != null && !isPlatform(at); at = at.getSuperclass()) {
                for (Field field : at.getDeclaredFields()) {
                    field.setAccessible(true);
                    fields.add(field);
                }
            }
        } catch (RuntimeException e) {
            return Optional.empty();
        }
        return Optional.of(fields);
    }

    /** Returns the first ancestor of a class that is Java's own. */
    private static Class<?> rootOf(Class<?> type) {
        Class<?> root = type;
        while (!isPlatform(root)) {
            root = root.getSuperclass();
        }
        return root;
    }

    /** Returns the class whose code declares a lambda expression, or the class itself. */
    private static Class<?> declaring(Class<?> type) throws ClassNotFoundException {
        return type.isHidden() ? Class.forName(nameOf(type), false, type.getClassLoader()) : type;
    }

    /** Returns the name of a class; for a lambda expression that of the declaring class. */
    static String nameOf(Class<?> type) {
        return type.isHidden()
                ? type.getName().replaceFirst("(\\$\\$Lambda|/0x).*", "")
                : type.getName();
    }
}
