package org.djlplan.memplan.internal.djl.purity;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** Selects the interfaces from which a class inherits a method. */
final class Inheritance {

    private Inheritance() {}

    /**
     * Returns the interfaces with the most specific declarations of a method: those that no other
     * interface with a declaration extends (Java Virtual Machine Specification, 5.4.3.3).
     *
     * @param interfaces those that a class and its ancestors name
     * @param declares tells whether an interface itself declares the method
     */
    static List<Class<?>> mostSpecific(List<Class<?>> interfaces, Predicate<Class<?>> declares) {
        List<Class<?>> all = new ArrayList<>(interfaces);
        List<Class<?>> declaring = new ArrayList<>();
        for (int i = 0; i < all.size(); i++) {
            Class<?> type = all.get(i);
            all.addAll(ImmutableList.copyOf(type.getInterfaces()));
            if (!declaring.contains(type) && declares.test(type)) {
                declaring.add(type);
            }
        }
        List<Class<?>> mostSpecific = new ArrayList<>(declaring);
        for (Class<?> type : declaring) {
            mostSpecific.removeIf(other -> other != type && other.isAssignableFrom(type));
        }
        return mostSpecific;
    }
}
