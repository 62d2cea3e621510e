package org.djlplan.integration.flink;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** The class loaders of jobs; itself it is the cluster's. */
public final class UserCode {

    private static final List<WeakReference<ClassLoader>> LOADERS = new ArrayList<>();

    private UserCode() {}

    public static synchronized void add(ClassLoader loader) {
        if (LOADERS.stream().noneMatch(known -> known.get() == loader)) {
            LOADERS.add(new WeakReference<>(loader));
        }
    }

    /** Returns how many there were. */
    static synchronized int count() {
        return LOADERS.size();
    }

    /** Returns those that are not collected. */
    static synchronized List<ClassLoader> kept() {
        System.gc();
        return LOADERS.stream().map(WeakReference::get).filter(Objects::nonNull).toList();
    }

    static synchronized void forget() {
        LOADERS.clear();
    }
}
