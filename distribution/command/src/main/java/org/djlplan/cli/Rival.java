package org.djlplan.cli;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import picocli.CommandLine.ITypeConverter;

/**
 * The stock engine in another configuration: with another allocator, or in the last DJL release
 * with its own TensorFlow Lite engine.
 *
 * @param name for users
 * @param environment additional environment variables of the process; empty if the configuration is
 *     not available here
 * @param classPath of the process, if it differs from this process's; DJL 0.27 always needs one
 */
record Rival(String name, Optional<Map<String, String>> environment, Optional<String> classPath) {

    private static final String OLD_DJL = "djl-0.27";

    /**
     * Prefixes of the names of DJL's and engines' jars, of which a class path may have only one
     * release.
     */
    private static final ImmutableList<String> OF_DJL =
            ImmutableList.of(
                    "api-",
                    "basicdataset-",
                    "model-zoo-",
                    "onnxruntime-engine-",
                    "pytorch-",
                    "sentencepiece-",
                    "tensorflow-lite-",
                    "tflite-",
                    "tokenizers-");

    private static Rival of(Allocator allocator) {
        return new Rival(
                allocator.label(), allocator.environment().map(Map::copyOf), Optional.empty());
    }

    /**
     * Returns DJL 0.27.
     *
     * @param jars DJL's jars and those of its engine: a folder, or a class path
     */
    private static Rival ofOldDjl(String jars) throws IOException {
        List<String> theirs =
                Files.isDirectory(Path.of(jars)) ? jarsOf(Path.of(jars)) : List.of(jars);
        return new Rival(
                OLD_DJL,
                Optional.of(ImmutableMap.of()),
                Optional.of(classPathWith(theirs, System.getProperty("java.class.path"))));
    }

    /**
     * Returns a class path of the jars {@code theirs}, and of this process's jars that are not
     * DJL's.
     */
    static String classPathWith(List<String> theirs, String ours) {
        Stream<String> rest =
                Splitter.on(File.pathSeparatorChar)
                        .splitToStream(ours)
                        .filter(entry -> OF_DJL.stream().noneMatch(fileName(entry)::startsWith));
        return String.join(File.pathSeparator, Stream.concat(theirs.stream(), rest).toList());
    }

    private static String fileName(String entry) {
        return entry.substring(entry.lastIndexOf(File.separatorChar) + 1);
    }

    private static List<String> jarsOf(Path folder) throws IOException {
        ImmutableList.Builder<String> jars = ImmutableList.builder();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.jar")) {
            files.forEach(file -> jars.add(file.toString()));
        }
        return jars.build();
    }

    /**
     * Checks that this configuration can run models of an engine.
     *
     * @throws IllegalArgumentException if it cannot; the message says why
     */
    void check(EngineKind engine) {
        if (name.equals(OLD_DJL)) {
            checkArgument(engine == EngineKind.TFLITE, "%s is for TFLite models only", OLD_DJL);
            checkArgument(
                    classPath.isPresent(),
                    "say where its jars are: %s=FOLDER, or =CLASSPATH",
                    OLD_DJL);
        }
    }

    /**
     * Parses a name. The name of DJL 0.27 is followed by {@code =} and a path, unless the
     * distribution contains DJL 0.27.
     */
    static final class Converter implements ITypeConverter<Rival> {

        @Override
        public Rival convert(String text) throws IOException {
            if (text.startsWith(OLD_DJL + "=")) {
                return ofOldDjl(text.substring(OLD_DJL.length() + 1));
            }
            if (!text.equals(OLD_DJL)) {
                return of(new Allocator.Converter().convert(text));
            }
            Path shipped = shipped();
            return Files.isDirectory(shipped)
                    ? ofOldDjl(shipped.toString())
                    : new Rival(OLD_DJL, Optional.of(ImmutableMap.of()), Optional.empty());
        }

        /**
         * Returns the folder of DJL 0.27 in the distribution, next to the folder of this project's
         * jars.
         */
        private static Path shipped() throws IOException {
            try {
                Path jar =
                        Path.of(
                                Rival.class
                                        .getProtectionDomain()
                                        .getCodeSource()
                                        .getLocation()
                                        .toURI());
                return jar.resolve(Path.of("..", "..", "against", OLD_DJL)).normalize();
            } catch (URISyntaxException e) {
                throw new IOException(e);
            }
        }
    }
}
