package org.djlplan.integration.publishing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The application in the folder {@code consumer}, built from the published artifacts. */
final class Consumer {

    private static final Path SOURCES = Path.of("consumer").toAbsolutePath();

    private final Path folder;
    private final Path model;

    private Consumer(Path folder, Path model) {
        this.folder = folder;
        this.model = model;
    }

    /** What a process printed. */
    record Result(int exitCode, String out, String err) {}

    /**
     * Builds the application with a JDK in an empty folder. Maven takes our artifacts only from the
     * staged repository.
     */
    static Consumer build(Jdk jdk, Path folder) throws Exception {
        for (Path file : Staged.files(SOURCES)) {
            if (!file.startsWith("target")) {
                Path copy = folder.resolve(file);
                Files.createDirectories(copy.getParent());
                Files.copy(SOURCES.resolve(file), copy);
            }
        }
        Path settings = Files.writeString(folder.resolve("settings.xml"), settings());
        ProcessBuilder maven =
                new ProcessBuilder(
                        "mvn",
                        "-B",
                        "-ntp",
                        "-q",
                        "package",
                        "--settings",
                        settings.toString(),
                        "-Dmaven.repo.local=" + repository(folder),
                        "-Ddjlplan.version=" + Staged.version(),
                        "-Ddjl.version=" + System.getProperty("djlplan.djl"),
                        "-Dtflite.version=" + System.getProperty("djlplan.tflite"));
        maven.environment().put("JAVA_HOME", jdk.home().toString());
        Result built = run(maven, folder, folder);
        assertEquals(0, built.exitCode(), built.out() + built.err());
        return new Consumer(folder, folder.resolve("model/net.tflite"));
    }

    private static Path repository(Path folder) {
        return folder.resolve("repository");
    }

    /**
     * Returns Maven's settings: others' artifacts that this machine already has are not downloaded
     * again.
     */
    private static String settings() {
        return """
               <settings>
                 <profiles>
                   <profile>
                     <id>staged</id>
                     <repositories>
                       <repository><id>staged</id><url>%1$s</url></repository>
                       <repository><id>here</id><url>%2$s</url></repository>
                     </repositories>
                     <pluginRepositories>
                       <pluginRepository><id>here</id><url>%2$s</url></pluginRepository>
                     </pluginRepositories>
                   </profile>
                 </profiles>
                 <activeProfiles><activeProfile>staged</activeProfile></activeProfiles>
               </settings>
               """
                .formatted(
                        Staged.REPOSITORY.toUri(),
                        Path.of(System.getProperty("user.home"), ".m2", "repository").toUri());
    }

    /** Returns the repositories from which Maven took our artifacts. */
    List<String> sourcesOfOurs() throws IOException {
        Path ours = repository(folder).resolve(Staged.OURS);
        List<String> sources = new ArrayList<>();
        for (Path file : Staged.files(ours)) {
            if (file.endsWith("_remote.repositories")) {
                for (String line : Files.readAllLines(ours.resolve(file))) {
                    if (!line.startsWith("#")) {
                        sources.add(line.replaceFirst(".*>", "").replace("=", ""));
                    }
                }
            }
        }
        return sources.stream().distinct().toList();
    }

    Path jar() {
        return folder.resolve("target/consumer.jar");
    }

    /** Returns its dependencies; the ones whose names begin with one of these texts come first. */
    List<Path> libraries(String... onlyThose) throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve("target/lib"))) {
            return files.filter(
                            file ->
                                    Stream.of(onlyThose)
                                            .anyMatch(file.getFileName().toString()::startsWith))
                    .sorted()
                    .toList();
        }
    }

    static String path(List<Path> entries) {
        return entries.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }

    /** Runs the application with a JVM's options, which precede the application's arguments. */
    Result run(Path java, List<String> options) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(java.toString());
        command.addAll(
                List.of(
                        "-Dai.djl.offline=true",
                        "-DDJL_CACHE_DIR=" + folder.resolve("cache"),
                        "-Xmx256m",
                        "-XX:+UseSerialGC"));
        command.addAll(options);
        command.add(model.toString());
        return run(new ProcessBuilder(command), folder, folder);
    }

    static Result run(ProcessBuilder process, Path workingFolder, Path files) throws Exception {
        Path out = Files.createTempFile(files, "run", ".out");
        Path err = Files.createTempFile(files, "run", ".err");
        int exitCode =
                process.directory(workingFolder.toFile())
                        .redirectOutput(out.toFile())
                        .redirectError(err.toFile())
                        .start()
                        .waitFor();
        return new Result(exitCode, Files.readString(out), Files.readString(err));
    }
}
