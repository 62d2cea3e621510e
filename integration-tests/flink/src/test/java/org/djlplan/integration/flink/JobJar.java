package org.djlplan.integration.flink;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** Makes job jars: thin ones with the job's classes, and fat ones with all dependencies. */
final class JobJar {

    private static final String SERVICES = "META-INF/services/";

    private final Map<String, byte[]> entries = new LinkedHashMap<>();

    /** Adds classes of this package. */
    JobJar with(Class<?>... classes) throws IOException {
        for (Class<?> each : classes) {
            String name = each.getName().replace('.', '/') + ".class";
            try (InputStream in = each.getClassLoader().getResourceAsStream(name)) {
                entries.put(name, in.readAllBytes());
            }
        }
        return this;
    }

    /** Adds djl-plan's memory planning, and its dependencies except DJL. */
    JobJar withPlan() throws Exception {
        return withAll(PlannedTranslatorFactory.class).withAll(ImmutableList.class);
    }

    /** Adds the jar or folder that a class comes from. */
    JobJar withAll(Class<?> of) throws Exception {
        Path place = Path.of(of.getProtectionDomain().getCodeSource().getLocation().toURI());
        return withAll(place);
    }

    /** Adds a jar or folder of the class path. */
    JobJar withAll(Path place) throws IOException {
        if (Files.isDirectory(place)) {
            try (Stream<Path> files = Files.walk(place)) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    add(place.relativize(file).toString(), Files.readAllBytes(file));
                }
            }
            return this;
        }
        try (JarFile jar = new JarFile(place.toFile())) {
            List<JarEntry> files = jar.stream().filter(entry -> !entry.isDirectory()).toList();
            for (JarEntry file : files) {
                try (InputStream in = jar.getInputStream(file)) {
                    add(file.getName(), in.readAllBytes());
                }
            }
        }
        return this;
    }

    /**
     * Joins lists of services, and keeps the first of other files with one name, as a plugin for
     * fat jars does.
     */
    private void add(String name, byte[] bytes) {
        if (name.startsWith(SERVICES)) {
            entries.merge(name, bytes, JobJar::join);
        } else if (!name.equals(JarFile.MANIFEST_NAME) && !name.equals("module-info.class")) {
            entries.putIfAbsent(name, bytes);
        }
    }

    private static byte[] join(byte[] first, byte[] second) {
        byte[] joined = new byte[first.length + 1 + second.length];
        System.arraycopy(first, 0, joined, 0, first.length);
        joined[first.length] = '\n';
        System.arraycopy(second, 0, joined, first.length + 1, second.length);
        return joined;
    }

    Path writeTo(Path file) throws IOException {
        try (OutputStream out = Files.newOutputStream(file);
                JarOutputStream jar = new JarOutputStream(out)) {
            // Compressing a hundred megabytes takes seconds.
            jar.setLevel(1);
            for (Map.Entry<String, byte[]> entry : entries.entrySet()) {
                jar.putNextEntry(new JarEntry(entry.getKey()));
                jar.write(entry.getValue());
            }
        }
        return file;
    }
}
