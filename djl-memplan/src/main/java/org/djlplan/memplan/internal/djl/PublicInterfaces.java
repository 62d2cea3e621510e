package org.djlplan.memplan.internal.djl;

import java.lang.reflect.Modifier;
import java.util.LinkedHashSet;
import java.util.Set;

/** The public interfaces of a class: its own, those of its superclasses, and those they extend. */
final class PublicInterfaces {

    private PublicInterfaces() {}

    static Class<?>[] of(Class<?> type) {
        Set<Class<?>> found = new LinkedHashSet<>();
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            addAll(found, each.getInterfaces());
        }
        return found.stream()
                .filter(each -> Modifier.isPublic(each.getModifiers()))
                .toArray(Class<?>[]::new);
    }

    private static void addAll(Set<Class<?>> found, Class<?>[] interfaces) {
        for (Class<?> each : interfaces) {
            if (found.add(each)) {
                addAll(found, each.getInterfaces());
            }
        }
    }
}
