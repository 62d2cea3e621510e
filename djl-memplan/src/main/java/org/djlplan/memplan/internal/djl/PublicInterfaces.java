package org.djlplan.memplan.internal.djl;

import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The public interfaces of a class: its own, those of its superclasses, and the interfaces that
 * these extend.
 */
final class PublicInterfaces {

    private PublicInterfaces() {}

    static Class<?>[] of(Class<?> type) {
        Set<Class<?>> found = new LinkedHashSet<>();
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            addAll(found, each.getInterfaces());
        }
        List<Class<?>> shown = new ArrayList<>();
        for (Class<?> each : found) {
            if (Modifier.isPublic(each.getModifiers())) {
                shown.add(each);
            }
        }
        return shown.toArray(new Class<?>[0]);
    }

    private static void addAll(Set<Class<?>> found, Class<?>[] interfaces) {
        for (Class<?> each : interfaces) {
            if (found.add(each)) {
                addAll(found, each.getInterfaces());
            }
        }
    }
}
