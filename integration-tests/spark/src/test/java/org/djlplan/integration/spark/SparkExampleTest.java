package org.djlplan.integration.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.example.spark.ClassifyPhotographs;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.deploy.SparkSubmit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Submits the example's jar, together with the jars that the example's build left beside it. */
@Tag("examples")
class SparkExampleTest {

    private static final Path TARGET = Path.of("..", "examples", "spark", "target");
    private static final int IMAGES = 6;

    /** A row of the printed table. */
    private static final Pattern ROW = Pattern.compile("(?m)^\\| *(\\d+)\\| *(\\d+)\\|$");

    /** The jars of this JVM's class path that Spark does not have. */
    private static final Pattern OURS =
            Pattern.compile("/(djl-|api-0|gson-|jna-|tensorflow-lite-|pytorch-|junit)[^/]*$");

    @TempDir Path folder;

    private List<String> command(Path archive, Path images) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        // The packages that Spark's own scripts open for a driver.
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(option -> option.startsWith("--add-opens"))
                .forEach(command::add);
        command.add("-Dai.djl.offline=true");
        command.add("-DDJL_CACHE_DIR=" + folder.resolve("cache"));
        command.add("-Dspark.local.dir=" + folder.resolve("local"));
        command.add("-Dspark.ui.enabled=false");
        command.add("-Xmx1g");
        command.add("-cp");
        command.add(
                Arrays.stream(LocalCluster.classPath().split(File.pathSeparator))
                        .filter(entry -> entry.endsWith(".jar") && !OURS.matcher(entry).find())
                        .collect(Collectors.joining(File.pathSeparator)));
        command.add(SparkSubmit.class.getName());
        command.addAll(List.of("--master", "local[2]"));
        command.addAll(List.of("--class", ClassifyPhotographs.class.getName()));
        try (Stream<Path> jars = Files.list(TARGET.resolve("lib"))) {
            command.add("--jars");
            command.add(jars.map(Path::toString).collect(Collectors.joining(",")));
        }
        command.add(TARGET.resolve("classify.jar").toString());
        command.addAll(List.of(archive.toString(), images.toString()));
        return command;
    }

    @Test
    void submit_archiveAndImages_classesOfStockAndAllPlanned() throws Exception {
        MeasuredModel measured = MeasuredModel.in(folder);
        Path images = ImageFiles.write(folder, IMAGES);
        Path out = folder.resolve("out");

        Process process =
                new ProcessBuilder(command(measured.archive(), images))
                        .redirectErrorStream(true)
                        .redirectOutput(out.toFile())
                        .start();
        try {
            assertTrue(process.waitFor(2, TimeUnit.MINUTES), "it does not end");
        } finally {
            process.destroyForcibly();
        }

        String printed = Files.readString(out);
        assertEquals(0, process.exitValue(), printed);
        List<Integer> classes =
                ROW.matcher(printed).results().flatMap(SparkExampleTest::classes).sorted().toList();
        assertEquals(ImageFiles.stockClasses(folder.resolve("model"), images), classes, printed);
        assertTrue(
                printed.contains(IMAGES + " rows; predictions: " + IMAGES + " planned, 0 not"),
                printed);
    }

    private static Stream<Integer> classes(MatchResult row) {
        int count = Integer.parseInt(row.group(2));
        return Collections.nCopies(count, Integer.valueOf(row.group(1))).stream();
    }
}
