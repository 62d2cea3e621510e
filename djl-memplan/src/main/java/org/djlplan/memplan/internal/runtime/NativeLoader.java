package org.djlplan.memplan.internal.runtime;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.internal.thread.Later;
import org.djlplan.thirdparty.guava.base.Throwables;

/**
 * Finds djl-plan's native libraries in the jar and binds classes to them.
 *
 * <p>Copies of djl-plan in several class loaders, as in a container or after a redeployment, share
 * the libraries that the first copy loaded, because libtorch has only one allocator, and the native
 * functions that libtorch calls stay in the process permanently. System properties tell all copies
 * the paths of these libraries.
 */
public final class NativeLoader {

    /** System property with the path of the library that is loaded in this process. */
    static final String LOADED = "org.djlplan.native.library";

    /**
     * Equals {@code DJLPLAN_ABI} in {@code djlplan.h}: the interface that this class's callers
     * expect.
     */
    private static final int ABI = 12;

    /** Equals {@code DJLPLAN_REWRITE_ABI} in {@code torch_rewrite.h}. */
    private static final int REWRITE_ABI = 1;

    private static final Loading PLANNING =
            new Loading("libdjlplan.so", LOADED, "djlplan_abi", ABI);

    /** Is loaded only if PyTorch's library was, and only for models that may be rewritten. */
    private static final Loading REWRITING =
            new Loading(
                    "libdjlplan-torch.so", LOADED + ".torch", "djlplan_rewrite_abi", REWRITE_ABI);

    private NativeLoader() {}

    /**
     * Binds the native methods of classes to the library of this platform, for as long as the
     * result is open. Without users they are unbound after a while, because JNA retains a bound
     * class, and with it djl-plan's class loader.
     *
     * @throws UnsupportedPlatformException if there is no library, or it cannot be loaded
     */
    public static Use use(Class<?>... bindings) throws UnsupportedPlatformException {
        return use(PLANNING, bindings);
    }

    /** Does the same with the library that rewrites PyTorch's models. */
    public static Use useRewriter(Class<?> binding) throws UnsupportedPlatformException {
        return use(REWRITING, binding);
    }

    private static Use use(Loading library, Class<?>... bindings)
            throws UnsupportedPlatformException {
        Use use = hold();
        try {
            for (Class<?> binding : bindings) {
                Bindings.bind(binding, library);
            }
            return use;
        } catch (UnsupportedPlatformException | RuntimeException | Error e) {
            use.close();
            throw e;
        }
    }

    /** Keeps all bound classes bound. */
    public static Use hold() {
        return new Use();
    }

    /** One use of native methods. */
    public static final class Use implements AutoCloseable {

        private boolean closed;

        private Use() {
            Bindings.used();
        }

        @Override
        public synchronized void close() {
            if (!closed) {
                closed = true;
                Bindings.released();
            }
        }
    }

    private static final class Bindings {

        /** Long enough for models that are loaded one after another. */
        private static final Duration IDLE = Duration.ofSeconds(2);

        private static final Set<Class<?>> BOUND = new HashSet<>();
        private static int uses;
        private static boolean pending;

        static synchronized void bind(Class<?> binding, Loading loading)
                throws UnsupportedPlatformException {
            if (BOUND.contains(binding)) {
                return;
            }
            String file = loading.file();
            try (NativeLibrary library = NativeLibrary.getInstance(file)) {
                Traces.runInOwnThread(() -> Native.register(binding, library));
            } catch (LinkageError e) {
                throw new UnsupportedPlatformException(
                        "djl-plan's native library lacks a function: " + e.getMessage(), e);
            }
            BOUND.add(binding);
        }

        static synchronized void used() {
            uses++;
        }

        static synchronized void released() {
            uses--;
            if (uses == 0 && !pending && !BOUND.isEmpty()) {
                pending = true;
                Later.run(IDLE, Bindings::unbind);
            }
        }

        /**
         * Unbinds the native methods. No thread is in one of them, because each call happens during
         * a use. An application that has ended may have closed its class loader, so nothing here
         * needs a class that was not loaded before, such as a lambda's.
         */
        private static synchronized void unbind() {
            pending = false;
            if (uses == 0) {
                for (Class<?> binding : BOUND) {
                    Native.unregister(binding);
                    // JNA has a weak map from the class to values that reference the class.
                    Iterator<?> options = Native.getLibraryOptions(binding).values().iterator();
                    while (options.hasNext()) {
                        if (binding.equals(options.next())) {
                            options.remove();
                        }
                    }
                }
                BOUND.clear();
                Traces.forgetRecords();
            }
        }
    }

    /** Returns the folder from which this process loaded the library; empty if it did not. */
    public static Optional<Path> folder() {
        return Optional.ofNullable(System.getProperty(LOADED))
                .map(file -> Path.of(file).toAbsolutePath().getParent());
    }

    /** Returns why a native library cannot be loaded, in one line, for people. */
    public static String reason(Throwable problem) {
        if (isDenied(problem)) {
            return "this JVM denies native access (--illegal-native-access=deny):"
                    + " add --enable-native-access=ALL-UNNAMED";
        }
        Throwable root = Throwables.getRootCause(problem);
        return root instanceof NoClassDefFoundError || root instanceof ClassNotFoundException
                ? "JNA (net.java.dev.jna:jna) is not complete: " + root
                : Objects.requireNonNullElse(root.getMessage(), root.toString())
                        .strip()
                        .replaceAll("\\s+", " ");
    }

    /** Since JDK 24. Later failures of a class only refer to the first one in their messages. */
    private static boolean isDenied(Throwable problem) {
        return Throwables.getCausalChain(problem).stream()
                .anyMatch(each -> each.toString().contains("Illegal native access"));
    }

    /** One of the libraries. */
    private static final class Loading {

        private final String name;
        private final String property;
        private final String abiFunction;
        private final int abi;
        private Optional<String> file = Optional.empty();

        /** Stored, because the JVM reports the cause of a failed class initialization only once. */
        private Optional<UnsupportedPlatformException> failure = Optional.empty();

        /**
         * @param property the system property with the path of the library once it is loaded
         * @param abiFunction returns the version of the library's interface
         */
        private Loading(String name, String property, String abiFunction, int abi) {
            this.name = name;
            this.property = property;
            this.abiFunction = abiFunction;
            this.abi = abi;
        }

        /** Returns the path of the loaded library. */
        synchronized String file() throws UnsupportedPlatformException {
            if (failure.isPresent()) {
                throw failure.get();
            }
            if (file.isEmpty()) {
                try {
                    file = Optional.of(load());
                } catch (UnsupportedPlatformException e) {
                    failure = Optional.of(e);
                    throw e;
                }
            }
            return file.get();
        }

        /**
         * The library stays in the process permanently. JNA's handle of it is closed, because JNA's
         * thread, and with it the class loader of JNA, stays as long as a handle exists. djl-plan's
         * class loader is not passed to JNA as an option, because JNA would retain it.
         */
        private String load() throws UnsupportedPlatformException {
            try {
                String resource = resource();
                Traces.startJna();
                String first = System.getProperty(property);
                String file = first == null ? unpack(resource) : first;
                try (NativeLibrary loaded = NativeLibrary.getInstance(file)) {
                    requireAbi(loaded, file);
                }
                return file;
            } catch (IOException | LinkageError e) {
                throw new UnsupportedPlatformException(
                        "djl-plan's native library cannot be loaded: "
                                + reason(e)
                                + (isDenied(e) ? "" : advice()),
                        e);
            }
        }

        private String resource() throws UnsupportedPlatformException {
            return SupportedPlatforms.processor()
                    .map(processor -> "/native/linux-" + processor + "/" + name)
                    .filter(resource -> NativeLoader.class.getResource(resource) != null)
                    .orElseThrow(
                            () ->
                                    new UnsupportedPlatformException(
                                            "djl-plan has no native library for "
                                                    + SupportedPlatforms.here()
                                                    + ": it supports "
                                                    + SupportedPlatforms.NAMES,
                                            null));
        }

        /**
         * Returns the file that the whole process loads, which another copy of djl-plan may have
         * unpacked.
         */
        private String unpack(String resource) throws IOException {
            File unpacked =
                    Native.extractFromResourcePath(resource, NativeLoader.class.getClassLoader());
            Object first = System.getProperties().putIfAbsent(property, unpacked.getAbsolutePath());
            return first == null ? unpacked.getAbsolutePath() : first.toString();
        }

        private void requireAbi(NativeLibrary loaded, String file)
                throws UnsupportedPlatformException {
            int found = loaded.getFunction(abiFunction).invokeInt(new Object[0]);
            if (found != abi) {
                throw new UnsupportedPlatformException(
                        String.format(
                                Locale.ROOT,
                                "another version of djl-plan runs in this process, with the native"
                                        + " library %s of interface %d, not %d: use one version",
                                file,
                                found,
                                abi),
                        null);
            }
        }

        private static String advice() {
            return ". Native libraries are unpacked into the folder that the property jna.tmpdir"
                    + " names ("
                    + System.getProperty("jna.tmpdir", "not set: JNA's folder in ~/.cache")
                    + ") or else java.io.tmpdir ("
                    + System.getProperty("java.io.tmpdir")
                    + "); it must be writable and not be mounted noexec: set -Djna.tmpdir=FOLDER";
        }
    }
}
