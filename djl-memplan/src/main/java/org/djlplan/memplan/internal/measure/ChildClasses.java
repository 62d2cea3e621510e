package org.djlplan.memplan.internal.measure;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.JarURLConnection;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.URLConnection;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.io.ByteStreams;

/**
 * Builds the class path of a measuring process. The class path has only the classes that the
 * process needs, so that nothing of the application, such as a logging configuration, affects the
 * process. The classes come from the jars and folders from which this JVM loaded them. A jar or
 * folder that contains nothing else is used directly. From other jars, such as an application in
 * one jar, and from nested jars, the required classes are copied.
 */
final class ChildClasses {

    private static final String METADATA = "META-INF/";
    private static final String SERVICES = "META-INF/services/";
    private static final String OWN = "org/djlplan/memplan/";
    private static final String THIRD_PARTY = "org/djlplan/thirdparty/";

    /**
     * By the name of one class of each jar: prefixes of the names of the jar's required entries.
     */
    private static final ImmutableMap<String, ImmutableList<String>> NEEDED =
            ImmutableMap.<String, ImmutableList<String>>builder()
                    .put(
                            ChildClasses.class.getName(),
                            ImmutableList.of(
                                    OWN,
                                    "native/",
                                    "ai/djl/tflite/engine/Planned",
                                    "META-INF/services/ai.djl.engine.EngineProvider"))
                    .put(ImmutableList.class.getName(), ImmutableList.of(THIRD_PARTY))
                    .put("com.google.gson.JsonObject", ImmutableList.of("com/google/gson/"))
                    .put("com.sun.jna.Native", ImmutableList.of("com/sun/jna/"))
                    .put("org.slf4j.Logger", ImmutableList.of("org/slf4j/"))
                    .buildOrThrow();

    /** The same for a process that loads DJL's PyTorch engine. */
    private static final ImmutableMap<String, ImmutableList<String>> NEEDED_BY_DJL =
            ImmutableMap.of(
                    "ai.djl.Model",
                    ImmutableList.of("ai/djl/", SERVICES + "ai.djl."),
                    "ai.djl.pytorch.engine.PtEngine",
                    ImmutableList.of("ai/djl/", SERVICES + "ai.djl.", "pytorch-engine.properties"));

    /**
     * By the name of one resource of the jars with the engine's native libraries: prefixes of the
     * names of the jar's required entries. The engine has unpacked its largest libraries already,
     * so they are not copied.
     */
    private static final ImmutableMap<String, ImmutableList<String>> NATIVES_OF_DJL =
            ImmutableMap.of(
                    "native/lib/pytorch.properties", ImmutableList.of("native/lib/"),
                    "jnilib/pytorch.properties", ImmutableList.of("jnilib/"));

    /** Entries that do not matter beside others. */
    private static final String LIBRARIES = "pytorch/";

    /** Package in which slf4j would find a logging library. */
    private static final String BINDING = "org/slf4j/impl/";

    private static final String OWN_SERVICES = SERVICES + "org.djlplan.";
    private static final String MODULE = "module-info.class";
    private static final String CLASS_DELEGATE = "class:";

    private final Path folder;
    private int copies;

    /**
     * @param folder for copies
     */
    ChildClasses(Path folder) {
        this.folder = folder;
    }

    /**
     * Returns the class path.
     *
     * @param djl whether DJL's PyTorch engine is needed, too
     * @throws IOException if classes cannot be copied from their location
     */
    List<Path> classPath(boolean djl) throws IOException {
        Map<String, URL> locations = new LinkedHashMap<>();
        Map<String, Set<String>> prefixes = new LinkedHashMap<>();
        for (Map.Entry<String, ImmutableList<String>> needed : NEEDED.entrySet()) {
            add(locations, prefixes, location(needed.getKey()), needed.getValue());
        }
        if (djl) {
            for (Map.Entry<String, ImmutableList<String>> needed : NEEDED_BY_DJL.entrySet()) {
                add(locations, prefixes, location(needed.getKey()), needed.getValue());
            }
            for (Map.Entry<String, ImmutableList<String>> needed : NATIVES_OF_DJL.entrySet()) {
                Optional<URL> location = locationOfResource(needed.getKey());
                if (location.isPresent()) {
                    add(locations, prefixes, location.get(), needed.getValue());
                }
            }
        }
        List<Path> classPath = new ArrayList<>();
        for (Map.Entry<String, URL> location : locations.entrySet()) {
            classPath.add(place(location.getValue(), prefixes.get(location.getKey())));
        }
        return classPath;
    }

    private static void add(
            Map<String, URL> locations,
            Map<String, Set<String>> prefixes,
            URL location,
            List<String> needed) {
        locations.put(location.toString(), location);
        prefixes.computeIfAbsent(location.toString(), l -> new LinkedHashSet<>()).addAll(needed);
    }

    /**
     * Returns the jar or folder with a resource; empty if there is none, because the engine's
     * libraries are elsewhere.
     */
    private static Optional<URL> locationOfResource(String name) throws IOException {
        URL resource = djlLoader().getResource(name);
        if (resource == null) {
            return Optional.empty();
        }
        String url = resource.toString();
        String root = url.substring(0, url.length() - name.length());
        boolean jar = root.startsWith("jar:") && root.indexOf("!/") == root.length() - 2;
        return Optional.of(
                new URL(jar ? root.substring("jar:".length(), root.length() - 2) : root));
    }

    /** Returns the class loader that has DJL's engines. */
    private static ClassLoader djlLoader() {
        ClassLoader context = Thread.currentThread().getContextClassLoader();
        return context == null ? ChildClasses.class.getClassLoader() : context;
    }

    private static URL location(String className) throws IOException {
        try {
            ClassLoader loader = ChildClasses.class.getClassLoader();
            CodeSource source =
                    Class.forName(className, false, loader).getProtectionDomain().getCodeSource();
            if (source != null && source.getLocation() != null) {
                return source.getLocation();
            }
            throw new NoClassesException("the jar or folder of " + className + " is unknown");
        } catch (ReflectiveOperationException | LinkageError e) {
            throw new NoClassesException(className + " cannot be loaded", e);
        }
    }

    private Path place(URL location, Set<String> prefixes) throws IOException {
        Optional<Path> file = file(location);
        if (file.isPresent() && isUsable(file.get(), prefixes)) {
            return file.get();
        }
        return copy(location, name -> isNeeded(name, prefixes));
    }

    private static Optional<Path> file(URL location) {
        try {
            return location.getProtocol().equals("file")
                    ? Optional.of(Path.of(location.toURI()))
                    : Optional.empty();
        } catch (URISyntaxException | IllegalArgumentException | FileSystemNotFoundException e) {
            return Optional.empty();
        }
    }

    private static boolean isUsable(Path file, Set<String> prefixes) throws IOException {
        if (file.toString().contains(File.pathSeparator)) {
            return false;
        }
        if (Files.isDirectory(file)) {
            try (Stream<Path> files = Files.walk(file)) {
                return files.filter(Files::isRegularFile)
                        .map(inside -> file.relativize(inside).toString())
                        .allMatch(name -> isHarmless(name, prefixes));
            }
        }
        try (JarFile jar = new JarFile(file.toFile())) {
            Manifest manifest = jar.getManifest();
            return (manifest == null
                            || manifest.getMainAttributes().getValue(Attributes.Name.CLASS_PATH)
                                    == null)
                    && jar.stream()
                            .filter(entry -> !entry.isDirectory())
                            .allMatch(entry -> isHarmless(entry.getName(), prefixes));
        }
    }

    private static boolean isNeeded(String name, Set<String> prefixes) {
        return prefixes.stream().anyMatch(name::startsWith) && !name.startsWith(BINDING);
    }

    private static boolean isHarmless(String name, Set<String> prefixes) {
        boolean metadata =
                name.startsWith(METADATA)
                        && (!name.startsWith(SERVICES) || name.startsWith(OWN_SERVICES));
        return metadata
                || name.equals(MODULE)
                || name.startsWith(LIBRARIES)
                || isNeeded(name, prefixes);
    }

    /** Copies required entries of a jar, a nested jar, or a folder into a jar. */
    private Path copy(URL location, Predicate<String> wanted) throws IOException {
        Path copy = folder.resolve("classes-" + ++copies + ".jar");
        Optional<Path> file = file(location);
        try (OutputStream out = Files.newOutputStream(copy);
                JarOutputStream jar = new JarOutputStream(out)) {
            jar.setLevel(0);
            if (file.isPresent() && Files.isDirectory(file.get())) {
                copyFolder(file.get(), wanted, jar);
            } else if (file.isPresent()) {
                try (JarFile source = new JarFile(file.get().toFile())) {
                    copyEntries(source, "", wanted, jar);
                }
            } else {
                copyNested(location, wanted, jar);
            }
        }
        return copy;
    }

    /** The URL is read through its own handler, which the class loader that created it provides. */
    private static void copyNested(URL location, Predicate<String> wanted, JarOutputStream jar)
            throws IOException {
        URLConnection connection = location.openConnection();
        connection.setUseCaches(false);
        if (!(connection instanceof JarURLConnection nested)) {
            throw new NoClassesException("classes cannot be copied from " + location);
        }
        try (JarFile source = nested.getJarFile()) {
            String entry = nested.getEntryName();
            copyEntries(source, entry == null ? "" : entry, wanted, jar);
        }
    }

    private static void copyEntries(
            JarFile source, String root, Predicate<String> wanted, JarOutputStream jar)
            throws IOException {
        for (JarEntry entry : (Iterable<JarEntry>) source.stream()::iterator) {
            boolean inside = !entry.isDirectory() && entry.getName().startsWith(root);
            if (inside && wanted.test(entry.getName().substring(root.length()))) {
                jar.putNextEntry(new JarEntry(entry.getName().substring(root.length())));
                try (InputStream in = source.getInputStream(entry)) {
                    ByteStreams.copy(in, jar);
                }
            }
        }
    }

    private static void copyFolder(Path root, Predicate<String> wanted, JarOutputStream jar)
            throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
                String name = root.relativize(file).toString();
                if (wanted.test(name)) {
                    jar.putNextEntry(new JarEntry(name));
                    Files.copy(file, jar);
                }
            }
        }
    }

    /**
     * Returns the class path of a custom delegate: the application's. Empty for other delegates.
     *
     * @param delegate value of {@code delegation.delegate}
     * @throws IOException if classes cannot be copied from their location
     */
    List<Path> ofDelegate(String delegate) throws IOException {
        if (!delegate.startsWith(CLASS_DELEGATE)) {
            return List.of();
        }
        Set<Path> places = new LinkedHashSet<>();
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        if (loader == null) {
            loader = ChildClasses.class.getClassLoader();
        }
        for (; loader != null; loader = loader.getParent()) {
            if (loader instanceof URLClassLoader known) {
                for (URL url : known.getURLs()) {
                    Optional<Path> file = file(url);
                    places.add(file.isPresent() ? file.get() : copy(url, name -> true));
                }
            }
        }
        Splitter.on(File.pathSeparatorChar)
                .omitEmptyStrings()
                .split(System.getProperty("java.class.path"))
                .forEach(entry -> places.add(Path.of(entry).toAbsolutePath()));
        return List.copyOf(places);
    }

    /**
     * Signals that this JVM cannot locate the classes that a measuring process needs. This does not
     * depend on the model.
     */
    static final class NoClassesException extends IOException {

        private static final long serialVersionUID = 1L;

        NoClassesException(String message) {
            super(message);
        }

        NoClassesException(String message, Throwable cause) {
            super(message, cause);
        }
    }
}
