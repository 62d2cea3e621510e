package org.djlplan.integration.limits;

import java.io.File;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.reflect.Field;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Runs an application repeatedly, each time in a new class loader, like a container that redeploys
 * it. Waits each time until the garbage collector has taken the loader. Links only to the JDK.
 *
 * <p>Arguments: how often; the seconds to wait; the application's class; its class path; its own
 * arguments. Prints what the application returns, and whether its loader was collected.
 */
public final class Redeployment {

    private static final Pattern SEPARATOR = Pattern.compile(Pattern.quote(File.pathSeparator));

    private static final String APPLICATION = "application";
    private static final int PROCESSES = 3;
    private static final long UNLOADING_MILLIS = 500;

    private Redeployment() {}

    /** See the class. */
    public static void main(String[] arguments) throws Exception {
        // DJL may start another JVM with this class path to count GPUs.
        System.setProperty(
                "java.class.path",
                System.getProperty("redeployment.probe", System.getProperty("java.class.path")));
        // As in a container, an engine that applications share is loaded before them.
        String shared = System.getProperty("redeployment.engine");
        if (shared != null) {
            Object unused =
                    Class.forName("ai.djl.engine.Engine")
                            .getMethod("getEngine", String.class)
                            .invoke(null, shared);
        }
        int rounds = Integer.parseInt(arguments[0]);
        long patienceMillis = 1000 * Long.parseLong(arguments[1]);
        List<URL> path = new ArrayList<>();
        for (String entry : SEPARATOR.splitAsStream(arguments[3]).toList()) {
            path.add(Path.of(entry).toUri().toURL());
        }
        URL[] urls = path.toArray(new URL[0]);
        String[] rest = Arrays.copyOfRange(arguments, 4, arguments.length);
        ReferenceQueue<ClassLoader> collected = new ReferenceQueue<>();
        for (int round = 0; round < rounds; round++) {
            startThreadsForProcesses();
            Reference<ClassLoader> loader = deploy(arguments[2], urls, rest, collected);
            long start = System.nanoTime();
            boolean gone = await(collected, loader, patienceMillis);
            double seconds = (System.nanoTime() - start) / 1e9;
            String text = String.format(Locale.ROOT, "collected after %.1f s", seconds);
            System.out.println(gone ? text : "kept, with the threads " + threads());
            // Java unloads the application's libraries concurrently, in another thread.
            Thread.sleep(UNLOADING_MILLIS);
        }
    }

    /**
     * Starts the threads that Java uses to wait for processes. Otherwise they would keep, for a
     * minute, the class loader of the application that starts a process. DJL and JNA start
     * processes, one after another.
     */
    private static void startThreadsForProcesses() throws Exception {
        List<Process> processes = new ArrayList<>();
        for (int i = 0; i < PROCESSES; i++) {
            processes.add(new ProcessBuilder("cat").start());
        }
        for (Process process : processes) {
            process.getOutputStream().close();
            process.waitFor();
        }
    }

    /** This is a separate method so that none of its objects stays on the stack. */
    private static Reference<ClassLoader> deploy(
            String application, URL[] urls, String[] rest, ReferenceQueue<ClassLoader> queue)
            throws Exception {
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        try (URLClassLoader loader =
                new URLClassLoader(APPLICATION, urls, Redeployment.class.getClassLoader())) {
            Thread.currentThread().setContextClassLoader(loader);
            Object result =
                    loader.loadClass(application)
                            .getMethod("run", String[].class)
                            .invoke(null, (Object) rest);
            System.out.println("ran " + result);
            return new PhantomReference<>(loader, queue);
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
    }

    private static boolean await(
            ReferenceQueue<ClassLoader> queue, Reference<?> awaited, long patienceMillis)
            throws Exception {
        long end = System.nanoTime() + patienceMillis * 1_000_000;
        while (System.nanoTime() < end) {
            endThreadOfJna();
            System.gc();
            if (queue.remove(50) == awaited) {
                return true;
            }
        }
        return false;
    }

    /**
     * Ends the thread of an application's JNA once it has nothing left to free. By itself it would
     * end 30 s later.
     */
    private static void endThreadOfJna() throws ReflectiveOperationException {
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            ClassLoader loader = thread.getClass().getClassLoader();
            if (loader != null
                    && APPLICATION.equals(loader.getName())
                    && thread.getName().equals("JNA Cleaner")) {
                Object cleaner = valueOf("this$0", thread);
                if (valueOf("firstCleanable", cleaner) == null) {
                    thread.interrupt();
                }
            }
        }
    }

    private static Object valueOf(String name, Object object) throws ReflectiveOperationException {
        Field field = object.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(object);
    }

    private static Set<String> threads() {
        Set<String> names = new TreeSet<>();
        Thread.getAllStackTraces().keySet().forEach(thread -> names.add(thread.getName()));
        return names;
    }
}
