package org.djlplan.memplan.runtime;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Platform;
import java.io.File;
import java.io.IOException;
import java.util.Locale;
import java.util.Map;

/** Finds djl-plan's native library in the jar and binds classes to it. */
public final class NativeLoader {

    private static final String UNSUPPORTED =
            String.format(
                    Locale.ROOT,
                    "djl-plan has no native library for %s on %s",
                    System.getProperty("os.name"),
                    System.getProperty("os.arch"));

    private NativeLoader() {}

    /**
     * Binds the native methods of {@code binding} to the library of this platform.
     *
     * @throws UnsupportedPlatformException if there is none, or it cannot be loaded
     */
    public static void bind(Class<?> binding) throws UnsupportedPlatformException {
        try {
            Native.register(binding, LibraryHolder.library());
        } catch (LinkageError e) {
            // Not only of our library: JNA itself may have failed to load, now or before.
            throw new UnsupportedPlatformException(UNSUPPORTED + ": " + e.getMessage(), e);
        }
    }

    /** Loads the library of this platform, which later calls then find loaded. */
    public static void preload() throws UnsupportedPlatformException {
        NativeLibrary unused = LibraryHolder.library();
    }

    private static final class LibraryHolder {

        private static volatile NativeLibrary library;

        static synchronized NativeLibrary library() throws UnsupportedPlatformException {
            if (library == null) {
                library = load();
            }
            return library;
        }

        private static NativeLibrary load() throws UnsupportedPlatformException {
            if (!Platform.isLinux() || !Platform.is64Bit()) {
                throw new UnsupportedPlatformException(UNSUPPORTED, null);
            }
            String arch = Platform.isARM() ? "aarch64" : "x86_64";
            String resource = "/native/linux-" + arch + "/libdjlplan.so";
            ClassLoader loader = NativeLoader.class.getClassLoader();
            if (NativeLoader.class.getResource(resource) == null) {
                throw new UnsupportedPlatformException(UNSUPPORTED, null);
            }
            try {
                File file = Native.extractFromResourcePath(resource, loader);
                return NativeLibrary.getInstance(
                        file.getPath(), Map.of(com.sun.jna.Library.OPTION_CLASSLOADER, loader));
            } catch (IOException | UnsatisfiedLinkError e) {
                throw new UnsupportedPlatformException(UNSUPPORTED + ": " + e.getMessage(), e);
            }
        }
    }
}
