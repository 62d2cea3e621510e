package org.djlplan.integration.guest;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.io.ByteStreams;

/** Packages the application in several ways, from the jars on this JVM's class path. */
final class Packages {

    /** The beginnings of the names of the jars that an application with the TFLite engine has. */
    private static final List<String> NEEDED =
            List.of("api-", "commons-", "djl-", "gson-", "jna-", "slf4j-api-", "tflite-");

    /** The folder into which the build copies further jars for these tests. */
    private static final Path EXTRA = Path.of("downloads", "target", "guest").toAbsolutePath();

    private final Path folder;
    private final Path log;

    /**
     * @param folder in which packages are made
     * @param log the application's log file
     */
    Packages(Path folder, Path log) {
        this.folder = folder;
        this.log = log;
    }

    /** Returns one of these jars, by the beginning of its name. */
    private static Path extra(String beginning) throws IOException {
        try (Stream<Path> files = Files.list(EXTRA)) {
            return files.filter(f -> f.getFileName().toString().startsWith(beginning))
                    .findFirst()
                    .orElseThrow();
        }
    }

    /** Returns a configuration that empties the log at the start, as many applications have it. */
    private byte[] loggingConfiguration() {
        return """
               <configuration>
                 <appender name="file" class="ch.qos.logback.core.FileAppender">
                   <file>%s</file>
                   <append>false</append>
                   <encoder><pattern>%%level %%logger{0} %%msg%%n</pattern></encoder>
                 </appender>
                 <root level="info"><appender-ref ref="file"/></root>
               </configuration>
               """
                .formatted(log)
                .getBytes(StandardCharsets.UTF_8);
    }

    /** Returns jars and folders, including ours. */
    private static List<Path> libraries() throws IOException {
        List<Path> libraries = new ArrayList<>();
        for (String entry :
                Splitter.on(File.pathSeparatorChar).split(System.getProperty("java.class.path"))) {
            Path path = Path.of(entry).toAbsolutePath();
            String name = path.getFileName().toString();
            boolean ours = path.endsWith("target/classes");
            if (name.startsWith("djl-plan-command-")
                    || path.endsWith("distribution/command/target/classes")) {
                // Applications do not have the commands' jar.
                continue;
            }
            if (Files.exists(path) && (ours || NEEDED.stream().anyMatch(name::startsWith))) {
                libraries.add(path);
            }
        }
        libraries.add(extra("logback-classic"));
        libraries.add(extra("logback-core"));
        return libraries;
    }

    private static Path ownClasses() {
        try {
            return Path.of(
                    Application.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        } catch (URISyntaxException e) {
            throw new AssertionError(e);
        }
    }

    private static List<Path> applicationClasses() throws IOException {
        try (Stream<Path> files =
                Files.list(ownClasses().resolve("org/djlplan/integration/guest"))) {
            return files.filter(f -> f.getFileName().toString().startsWith("Application")).toList();
        }
    }

    /** Returns the JVM's arguments for jars and a folder, named by a wildcard, with spaces. */
    List<String> classPath() throws IOException {
        return classPath(libraries());
    }

    /** Returns the same with an old Guava before all others. */
    List<String> oldGuava() throws IOException {
        List<Path> libraries = new ArrayList<>();
        libraries.add(extra("guava-14"));
        libraries.addAll(libraries());
        return classPath(libraries);
    }

    private List<String> classPath(List<Path> libraries) throws IOException {
        Path jars = Files.createDirectories(folder.resolve("my libraries"));
        int number = 0;
        for (Path library : libraries) {
            Path jar = jars.resolve(++number + " " + library.getFileName() + ".jar");
            if (Files.isDirectory(library)) {
                Files.write(jar, jarOf(library));
            } else {
                Files.copy(library, jar);
            }
        }
        Path classes = folder.resolve("my classes");
        for (Path file : applicationClasses()) {
            Path copy = classes.resolve(ownClasses().relativize(file).toString());
            Files.createDirectories(copy.getParent());
            Files.copy(file, copy);
        }
        Files.write(classes.resolve("logback.xml"), loggingConfiguration());
        return List.of(
                "-cp", classes + File.pathSeparator + jars + "/*", Application.class.getName());
    }

    /** Returns the JVM's arguments for everything in one jar, the application's files included. */
    List<String> uberJar() throws IOException {
        Path jar = folder.resolve("uber.jar");
        Set<String> names = new HashSet<>();
        try (JarOutputStream out = open(jar, Application.class.getName())) {
            addApplication("", out);
            for (Path library : libraries()) {
                if (Files.isDirectory(library)) {
                    addFolder(library, "", names, out);
                } else {
                    addContent(library, names, out);
                }
            }
        }
        return List.of("-jar", jar.toString());
    }

    /** Returns the JVM's arguments for a Spring Boot application in one jar. */
    List<String> bootJar(String version, String launcher) throws IOException {
        Path jar = folder.resolve("boot.jar");
        try (JarOutputStream out = open(jar, launcher)) {
            addContent(extra("spring-boot-loader-" + version), new HashSet<>(), out);
            out.putNextEntry(new JarEntry("BOOT-INF/classes/"));
            out.putNextEntry(new JarEntry("BOOT-INF/lib/"));
            addApplication("BOOT-INF/classes/", out);
            int number = 0;
            for (Path library : libraries()) {
                byte[] bytes =
                        Files.isDirectory(library) ? jarOf(library) : Files.readAllBytes(library);
                String name = library.getFileName() + (Files.isDirectory(library) ? ".jar" : "");
                JarEntry entry = new JarEntry("BOOT-INF/lib/" + ++number + "-" + name);
                // A jar within the jar can be read in place only if it is not compressed.
                entry.setMethod(JarEntry.STORED);
                entry.setSize(bytes.length);
                CRC32 sum = new CRC32();
                sum.update(bytes);
                entry.setCrc(sum.getValue());
                out.putNextEntry(entry);
                out.write(bytes);
            }
        }
        return List.of("-jar", jar.toString());
    }

    private static JarOutputStream open(Path jar, String mainClass) throws IOException {
        Manifest manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        attributes.put(Attributes.Name.MAIN_CLASS, mainClass);
        attributes.put(new Attributes.Name("Start-Class"), Application.class.getName());
        attributes.put(new Attributes.Name("Spring-Boot-Classes"), "BOOT-INF/classes/");
        attributes.put(new Attributes.Name("Spring-Boot-Lib"), "BOOT-INF/lib/");
        OutputStream file = Files.newOutputStream(jar);
        JarOutputStream out = new JarOutputStream(file, manifest);
        out.setLevel(1);
        return out;
    }

    private void addApplication(String prefix, JarOutputStream out) throws IOException {
        for (Path file : applicationClasses()) {
            add(prefix + ownClasses().relativize(file), Files.readAllBytes(file), out);
        }
        add(prefix + "logback.xml", loggingConfiguration(), out);
    }

    private static void add(String name, byte[] content, JarOutputStream out) throws IOException {
        out.putNextEntry(new JarEntry(name));
        out.write(content);
    }

    private static byte[] jarOf(Path classes) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JarOutputStream out = new JarOutputStream(bytes)) {
            addFolder(classes, "", new HashSet<>(), out);
        }
        return bytes.toByteArray();
    }

    private static void addFolder(Path root, String prefix, Set<String> names, JarOutputStream out)
            throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                String name = prefix + root.relativize(file);
                if (names.add(name)) {
                    add(name, Files.readAllBytes(file), out);
                }
            }
        }
    }

    private static void addContent(Path library, Set<String> names, JarOutputStream out)
            throws IOException {
        try (JarFile jar = new JarFile(library.toFile())) {
            for (JarEntry entry : (Iterable<JarEntry>) jar.stream()::iterator) {
                boolean wanted =
                        !entry.isDirectory() && !entry.getName().equals(JarFile.MANIFEST_NAME);
                if (wanted && names.add(entry.getName())) {
                    try (InputStream in = jar.getInputStream(entry)) {
                        add(entry.getName(), ByteStreams.toByteArray(in), out);
                    }
                }
            }
        }
    }
}
