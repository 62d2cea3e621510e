package org.djlplan.integration.publishing;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A JDK of this machine.
 *
 * @param feature the first number of its version
 */
record Jdk(int feature, Path home) {

    private static final Path OF_THE_SYSTEM = Path.of("/usr/lib/jvm");

    /** Variables as on GitHub's machines, for example {@code JAVA_HOME_25_X64}. */
    private static final String VARIABLE = "JAVA_HOME_\\d+_X64";

    /**
     * Returns one JDK of each version from 17 on: this JVM's, and those that the environment and
     * the system have.
     */
    static List<Jdk> all() throws IOException {
        List<Path> homes = new ArrayList<>();
        homes.add(Path.of(System.getProperty("java.home")));
        for (Map.Entry<String, String> variable : System.getenv().entrySet()) {
            if (variable.getKey().matches(VARIABLE)) {
                homes.add(Path.of(variable.getValue()));
            }
        }
        if (Files.isDirectory(OF_THE_SYSTEM)) {
            homes.addAll(Staged.folders(OF_THE_SYSTEM));
        }
        Map<Integer, Jdk> jdks = new TreeMap<>();
        for (Path home : homes) {
            of(home).filter(jdk -> jdk.feature >= 17)
                    .ifPresent(jdk -> jdks.putIfAbsent(jdk.feature, jdk));
        }
        return List.copyOf(jdks.values());
    }

    private static Optional<Jdk> of(Path home) throws IOException {
        Path release = home.resolve("release");
        if (!Files.isExecutable(home.resolve("bin/javac")) || !Files.isReadable(release)) {
            return Optional.empty();
        }
        Properties properties = new Properties();
        properties.load(new StringReader(Files.readString(release)));
        String version = properties.getProperty("JAVA_VERSION", "").replace("\"", "");
        return Stream.of(version.split("\\.", -1)[0])
                .filter(number -> number.matches("\\d+"))
                .findFirst()
                .map(number -> new Jdk(Integer.parseInt(number), home));
    }

    String tool(String name) {
        return home.resolve("bin").resolve(name).toString();
    }

    /** Whether this JVM reports code that loads native libraries without being allowed to. */
    boolean reportsNativeAccess() {
        return feature >= 24;
    }

    @Override
    public String toString() {
        return "JDK " + feature;
    }
}
