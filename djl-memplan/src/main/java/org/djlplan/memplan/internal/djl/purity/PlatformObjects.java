package org.djlplan.memplan.internal.djl.purity;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Enumeration;
import java.util.Iterator;
import java.util.PriorityQueue;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.Spliterator;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.stream.BaseStream;
import java.util.stream.Collector;

/**
 * Objects of Java's own classes, whose fields are inaccessible. Most of them are harmless, because
 * each call of their methods either has stated effects or is a finding ({@link JdkFacts}).
 */
final class PlatformObjects {

    private PlatformObjects() {}

    /**
     * Returns whether an object may contain user code or arrays that calls with stated effects
     * reach.
     */
    static boolean mayHide(Object object) {
        boolean leadsOn =
                object instanceof Iterator<?>
                        || object instanceof Enumeration<?>
                        || object instanceof Spliterator<?>
                        || object instanceof BaseStream<?, ?>
                        || object instanceof Collector<?, ?, ?>
                        || (object instanceof Iterable<?> && !(object instanceof Path))
                        || Proxy.isProxyClass(object.getClass())
                        || isFunction(object.getClass());
        return leadsOn && hasReferences(object.getClass());
    }

    private static boolean isFunction(Class<?> type) {
        for (Class<?> at = type; at != null; at = at.getSuperclass()) {
            for (Class<?> implemented : at.getInterfaces()) {
                if (JdkFacts.isFunction(implemented) || isFunction(implemented)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean hasReferences(Class<?> type) {
        for (Class<?> at = type; at != null && at != Enum.class; at = at.getSuperclass()) {
            for (Field field : at.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers()) && !field.getType().isPrimitive()) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Returns whether an object orders its elements by a comparator that may be user code. */
    static boolean callsComparator(Object object) {
        Comparator<?> comparator = null;
        if (object instanceof SortedMap<?, ?> map) {
            comparator = map.comparator();
        } else if (object instanceof SortedSet<?> set) {
            comparator = set.comparator();
        } else if (object instanceof PriorityQueue<?> queue) {
            comparator = queue.comparator();
        } else if (object instanceof PriorityBlockingQueue<?> queue) {
            comparator = queue.comparator();
        }
        return comparator != null
                && (!ObjectWalk.isPlatform(comparator.getClass()) || mayHide(comparator));
    }
}
