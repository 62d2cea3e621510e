package org.djlplan.memplan.internal.engine;

import ai.djl.engine.EngineException;
import ai.djl.util.Utils;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.internal.runtime.NativeLoader;
import org.djlplan.memplan.internal.runtime.SupportedPlatforms;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.thirdparty.guava.base.Strings;
import org.djlplan.thirdparty.guava.hash.Hashing;
import org.djlplan.thirdparty.guava.hash.HashingInputStream;
import org.djlplan.thirdparty.guava.io.ByteStreams;

/**
 * The native library of TensorFlow Lite: the file in {@code TFLITE_LIBRARY_PATH}, otherwise the
 * library in a jar on the class path ({@code org.bytedeco:tensorflow-lite} or DJL's {@code
 * tflite-native-cpu}), which is copied once into DJL's cache folder.
 */
final class LibraryFile {

    private static final String GIVEN = "TFLITE_LIBRARY_PATH";
    private static final String DJL = "native/lib/libtensorflowlite_jni.so";
    private static final Map<String, String> CLASSIFIERS =
            Map.of("x86_64", "linux-x86_64", "aarch64", "linux-arm64");

    private LibraryFile() {}

    /** Returns whether there is a library for this platform. */
    static boolean exists() {
        return Utils.getEnvOrSystemProperty(GIVEN) != null || resource().isPresent();
    }

    /** Returns a message that says how to add one. */
    static String advice() {
        return platform()
                .map(
                        classifier ->
                                "add the dependency org.bytedeco:tensorflow-lite with the"
                                        + " classifier "
                                        + classifier)
                .orElse(
                        "this engine supports "
                                + SupportedPlatforms.NAMES
                                + ", not "
                                + SupportedPlatforms.here());
    }

    /** Returns the name of this platform in the jars. */
    private static Optional<String> platform() {
        return SupportedPlatforms.processor().map(CLASSIFIERS::get);
    }

    private static Optional<URL> resource() {
        return platform()
                .flatMap(
                        platform ->
                                find("org/bytedeco/tensorflowlite/"
                                                + platform
                                                + "/libjnitensorflowlite.so")
                                        .or(
                                                () ->
                                                        platform.endsWith("x86_64")
                                                                ? find(DJL)
                                                                : Optional.empty()));
    }

    private static Optional<URL> find(String name) {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        return Optional.ofNullable(context)
                .map(loader -> loader.getResource(name))
                .or(
                        () ->
                                Optional.ofNullable(
                                        LibraryFile.class.getClassLoader().getResource(name)));
    }

    /**
     * Loads the library, unless the process has already loaded one.
     *
     * @return its version
     * @throws EngineException if loading fails; the message says why
     */
    static String load() {
        try {
            try {
                EngineLibrary.loaded();
            } catch (UnplannableException e) {
                // The usual case: no library was loaded yet.
                EngineLibrary.load(file());
            }
            EngineLibrary.requireKnown();
            return EngineLibrary.loaded().version();
        } catch (IOException | UnplannableException | LinkageError e) {
            String reason = e instanceof LinkageError ? NativeLoader.reason(e) : e.getMessage();
            throw new EngineException(
                    "the native library of TensorFlow Lite cannot be loaded: " + reason, e);
        }
    }

    private static Path file() throws IOException {
        String given = Utils.getEnvOrSystemProperty(GIVEN);
        if (given != null) {
            Path file = Path.of(given).toAbsolutePath();
            if (!Files.isRegularFile(file) || !EngineLibrary.isNamedAsUsual(file)) {
                throw new IOException(
                        GIVEN + "=" + given + ": no file that is named as in the jars");
            }
            return file;
        }
        URL found = resource().orElseThrow(() -> new IOException(advice()));
        Path folder = Utils.getEngineCacheDir("tflite").toAbsolutePath();
        try {
            return copied(found, folder);
        } catch (IOException e) {
            throw new IOException(
                    String.format(
                            Locale.ROOT,
                            "%s cannot be copied to %s (%s): let ENGINE_CACHE_DIR name a folder"
                                    + " with room that can be written to, or %s the library",
                            found,
                            folder,
                            e,
                            GIVEN),
                    e);
        }
    }

    /**
     * Returns the copy of a library in a folder. The copy gets its name when it is complete, and
     * the name identifies its content, because several processes may copy at once.
     */
    static Path copied(URL library, Path folder) throws IOException {
        String path = library.getPath();
        Path copy =
                folder.resolve(contentName(library))
                        .resolve(path.substring(path.lastIndexOf('/') + 1));
        if (Files.isRegularFile(copy)) {
            return copy;
        }
        Files.createDirectories(copy.getParent());
        Path part = Files.createTempFile(copy.getParent(), "library", ".part");
        try {
            try (InputStream in = library.openStream();
                    OutputStream out = Files.newOutputStream(part)) {
                long unused = in.transferTo(out);
            }
            name(part, copy);
            return copy;
        } finally {
            Files.deleteIfExists(part);
        }
    }

    /**
     * Gives a complete copy its name, unless another process was first. That process may have
     * loaded its own copy, and would no longer find its library if the file were replaced.
     */
    static void name(Path part, Path copy) throws IOException {
        try {
            Files.createLink(copy, part);
        } catch (FileAlreadyExistsException e) {
            // Its content is the same.
            return;
        } catch (IOException | UnsupportedOperationException e) {
            // A file system without links: here a copy that is made at this moment may be replaced.
            if (!Files.isRegularFile(copy)) {
                Files.move(part, copy, StandardCopyOption.ATOMIC_MOVE);
            }
        }
    }

    /** A jar contains the checksum and the size of its entries. */
    private static String contentName(URL library) throws IOException {
        URLConnection connection = library.openConnection();
        if (connection instanceof JarURLConnection jar
                && jar.getJarEntry().getCrc() >= 0
                && jar.getJarEntry().getSize() >= 0) {
            return contentName(jar.getJarEntry().getCrc(), jar.getJarEntry().getSize());
        }
        try (HashingInputStream in =
                new HashingInputStream(Hashing.crc32(), connection.getInputStream())) {
            long bytes = ByteStreams.exhaust(in);
            return contentName(in.hash().padToLong(), bytes);
        }
    }

    private static String contentName(long crc, long bytes) {
        return Strings.padStart(Long.toHexString(crc), 8, '0') + '-' + bytes;
    }
}
