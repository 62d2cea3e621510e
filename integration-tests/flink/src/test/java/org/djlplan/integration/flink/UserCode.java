package org.djlplan.integration.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/**
 * Counts the class loaders of jobs, and lists those that are not collected. The cluster's own class
 * loader loads this class.
 */
public final class UserCode {

    /** The class loaders of a JVM's first jobs stay for minutes. */
    private static final int FIRST_JOBS = 6;

    /** JNA's thread ends half a minute after its last use. */
    private static final long PATIENCE_SECONDS = 90;

    private static final List<WeakReference<ClassLoader>> LOADERS = new ArrayList<>();

    /** Those of earlier tests, which end together. */
    private static final List<WeakReference<ClassLoader>> ENDED = new ArrayList<>();

    private static int jobs;

    private UserCode() {}

    public static synchronized void add(ClassLoader loader) {
        if (LOADERS.stream().noneMatch(known -> known.get() == loader)) {
            LOADERS.add(new WeakReference<>(loader));
        }
    }

    /** Returns the number of class loaders so far. */
    static synchronized int count() {
        return LOADERS.size();
    }

    /** From now on, none of the class loaders so far is needed. */
    static synchronized void end() {
        ENDED.addAll(LOADERS);
        forget();
    }

    private static synchronized List<ClassLoader> kept() {
        System.gc();
        return ENDED.stream().map(WeakReference::get).filter(Objects::nonNull).toList();
    }

    static synchronized void forget() {
        LOADERS.clear();
    }

    /** Runs a JVM's first jobs, whose class loaders stay even if no model runs in them. */
    static void warm(Callable<?> job) throws Exception {
        for (; jobs < FIRST_JOBS; jobs++) {
            job.call();
        }
    }

    /** Waits until the class loaders that are not needed are collected. */
    static void assertCollected() throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!kept().isEmpty() && System.nanoTime() < end) {
            Thread.sleep(500);
        }
        assertEquals(List.of(), kept());
    }
}
