package org.djlplan.memplan.internal.child;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** Builds the command line that starts a JVM like this one. */
public final class JavaCommand {

    private static final ImmutableList<String> INHERITED_PROPERTIES =
            ImmutableList.of(
                    "ai.djl.", "org.slf4j.", "org.djlplan.", "DJL_", "java.io.tmpdir", "jna.");

    private JavaCommand() {}

    /** Returns the executable of this JVM. */
    public static Path ofThisJvm() {
        return Path.of(System.getProperty("java.home"), "bin", "java");
    }

    /**
     * Returns the command line up to and including the class path.
     *
     * @param java the executable
     * @param flags of the JVM
     * @param properties by name; other properties of DJL, logging, JNA and this project are copied
     *     from this JVM
     */
    public static ImmutableList<String> of(
            Path java, List<String> flags, Map<String, String> properties, String classPath) {
        Map<String, String> all = new TreeMap<>(properties);
        Properties own = System.getProperties();
        for (String key : own.stringPropertyNames()) {
            if (INHERITED_PROPERTIES.stream().anyMatch(key::startsWith)) {
                all.putIfAbsent(key, own.getProperty(key));
            }
        }
        ImmutableList.Builder<String> command = ImmutableList.builder();
        // JNA loads libraries, about which newer JVMs warn.
        command.add(java.toString(), "--enable-native-access=ALL-UNNAMED").addAll(flags);
        all.forEach((key, value) -> command.add("-D" + key + "=" + value));
        return command.add("-cp", classPath).build();
    }
}
