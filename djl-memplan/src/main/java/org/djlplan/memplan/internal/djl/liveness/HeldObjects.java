package org.djlplan.memplan.internal.djl.liveness;

import java.lang.ref.Reference;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
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
import java.util.function.UnaryOperator;
import org.djlplan.memplan.internal.djl.purity.ObjectWalk;

/**
 * Visits everything that a block and its children reference in their fields. Arrays that a forward
 * pass stored there are used later, so they must not be closed, and stand-ins that it stored there
 * must be replaced by real objects.
 */
final class HeldObjects {

    /** Sufficient for any block; a limit in case one references half the heap. */
    private static final int MOST_OBJECTS = 100_000;

    private final UnaryOperator<Object> replacement;
    private final Set<Object> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Deque<Object> toVisit = new ArrayDeque<>();

    private HeldObjects(UnaryOperator<Object> replacement) {
        this.replacement = replacement;
    }

    /**
     * Visits all reachable objects, including arrays and managers.
     *
     * @param statics classes whose static fields are included
     * @param replacement returns the replacement of an object, which may be the object itself
     * @return whether all were visited; false if there are too many
     */
    static boolean replaceAll(
            Object holder, Collection<Class<?>> statics, UnaryOperator<Object> replacement) {
        HeldObjects walk = new HeldObjects(replacement);
        walk.follow(holder);
        for (Class<?> type : statics) {
            for (Field field : type.getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers()) && !field.getType().isPrimitive()) {
                    walk.visitField(type, field);
                }
            }
        }
        while (!walk.toVisit.isEmpty() && walk.seen.size() < MOST_OBJECTS) {
            walk.visit(walk.toVisit.poll());
        }
        return walk.toVisit.isEmpty();
    }

    private Object follow(Object object) {
        if (object == null) {
            return null;
        }
        if (object instanceof Optional<?> optional && optional.isPresent()) {
            Object content = follow(optional.get());
            return content == optional.get() ? object : Optional.of(content);
        }
        Object replaced = replacement.apply(object);
        if (!ObjectWalk.isForeign(replaced) && seen.add(replaced)) {
            toVisit.add(replaced);
        }
        return replaced;
    }

    @SuppressWarnings("unchecked")
    private void visit(Object object) {
        try {
            if (object instanceof Object[] elements) {
                for (int i = 0; i < elements.length; i++) {
                    Object old = elements[i];
                    Object replaced = follow(old);
                    if (replaced != old) {
                        Array.set(elements, i, replaced);
                    }
                }
                return;
            }
            visitFields(object);
            if (!ObjectWalk.inheritsContent(object.getClass())
                    || ObjectWalk.overridesContent(object.getClass())) {
                return;
            }
            if (object instanceof List<?> list) {
                replaceElements((List<Object>) list);
            } else if (object instanceof Collection<?> others) {
                others.forEach(this::follow);
            } else if (object instanceof Map<?, ?> map) {
                map.keySet().forEach(this::follow);
                replaceValues((Map<Object, Object>) map);
            } else if (object instanceof Map.Entry<?, ?> entry) {
                follow(entry.getKey());
                replaceValue((Map.Entry<Object, Object>) entry);
            } else if (object instanceof AtomicReference<?> reference) {
                replaceReferent((AtomicReference<Object>) reference);
            } else if (object instanceof AtomicReferenceArray<?> references) {
                replaceElements((AtomicReferenceArray<Object>) references);
            } else if (object instanceof Reference<?> reference) {
                follow(reference.get());
            }
        } catch (RuntimeException e) {
            // An unmodifiable or concurrently modified collection keeps its content.
            seen.add(object);
        }
    }

    private void replaceElements(List<Object> list) {
        for (int i = 0; i < list.size(); i++) {
            Object old = list.get(i);
            Object replaced = follow(old);
            if (replaced != old) {
                list.set(i, replaced);
            }
        }
    }

    private void replaceValues(Map<Object, Object> map) {
        map.entrySet().forEach(this::replaceValue);
    }

    private void replaceValue(Map.Entry<Object, Object> entry) {
        Object old = entry.getValue();
        Object replaced = follow(old);
        if (replaced != old) {
            entry.setValue(replaced);
        }
    }

    private void replaceElements(AtomicReferenceArray<Object> references) {
        for (int i = 0; i < references.length(); i++) {
            Object old = references.get(i);
            Object replaced = follow(old);
            if (replaced != old) {
                references.compareAndSet(i, old, replaced);
            }
        }
    }

    private void replaceReferent(AtomicReference<Object> reference) {
        Object old = reference.get();
        Object replaced = follow(old);
        if (replaced != old) {
            reference.compareAndSet(old, replaced);
        }
    }

    private void visitFields(Object object) {
        for (Class<?> type = object.getClass();
                type != null && !ObjectWalk.isPlatform(type);
                type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (!field.getType().isPrimitive()) {
                    visitField(object, field);
                }
            }
        }
    }

    private void visitField(Object object, Field field) {
        try {
            field.setAccessible(true);
            Object holder = Modifier.isStatic(field.getModifiers()) ? null : object;
            Object old = field.get(holder);
            Object replaced = follow(old);
            if (replaced != old && !Modifier.isFinal(field.getModifiers())) {
                field.set(holder, replaced);
            }
        } catch (ReflectiveOperationException | RuntimeException e) {
            // Inaccessible field; a stand-in there keeps working, only slower.
            seen.add(field);
        }
    }
}
