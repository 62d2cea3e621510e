package org.djlplan.memplan.measure;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Where the classes of a measuring process are. First those that it surely needs, where this JVM
 * loaded them from: an application may have loaded them from elsewhere than its class path. Then
 * the class path, for a delegate of the user's and for the logging that is installed.
 */
final class MeasuringClassPath {

    /** One class of each jar, by name: this package uses few of them itself. */
    private static final ImmutableList<String> NEEDED =
            ImmutableList.of(
                    MeasuringClassPath.class.getName(),
                    "com.google.common.collect.ImmutableList",
                    "com.google.common.util.concurrent.internal.InternalFutures",
                    "com.google.flatbuffers.Table",
                    "com.google.gson.JsonObject",
                    "com.sun.jna.Native",
                    "org.slf4j.Logger");

    private MeasuringClassPath() {}

    static String current() {
        Set<String> entries = new LinkedHashSet<>();
        for (String needed : NEEDED) {
            place(needed).map(Path::toString).ifPresent(entries::add);
        }
        Splitter.on(File.pathSeparatorChar)
                .omitEmptyStrings()
                .split(System.getProperty("java.class.path"))
                .forEach(entries::add);
        return String.join(File.pathSeparator, entries);
    }

    /** Returns the folder or jar of a class, or empty where it is in something else. */
    private static Optional<Path> place(String className) {
        try {
            ClassLoader loader = MeasuringClassPath.class.getClassLoader();
            Class<?> type = Class.forName(className, false, loader);
            CodeSource source = type.getProtectionDomain().getCodeSource();
            if (source == null || source.getLocation() == null) {
                return Optional.empty();
            }
            return Optional.of(Path.of(source.getLocation().toURI()));
        } catch (ReflectiveOperationException | LinkageError e) {
            return Optional.empty();
        } catch (URISyntaxException | IllegalArgumentException | FileSystemNotFoundException e) {
            // A jar within a jar, for example.
            return Optional.empty();
        }
    }
}
