package org.djlplan.integration.spark;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.spark.SparkConf;

/**
 * A Spark cluster whose executors are separate JVMs on this machine. Spark distributes archives to
 * them.
 */
final class LocalCluster {

    /** Puts an executor's cache into the executor's folder, as on a separate machine. */
    static final String JVM = "-Dai.djl.offline=true -DDJL_CACHE_DIR=cache";

    /** The result of {@link Sources} if a job brings its jars. */
    static final Set<String> SOURCES_WITH_JARS =
            Set.of(nameOf("/djl-memplan-"), "guava-14.0.1.jar");

    /** Parts of the names of jars that every job brings: djl-plan's and DJL's. */
    private static final List<String> PLANNED_DJL =
            List.of(
                    "/djl-memplan-",
                    "/djl-delegation-",
                    "/djl-plan-thirdparty-",
                    "/api-",
                    "/gson-",
                    "/jna-");

    /** Parts of the names of jars that only the test's own JVM has. */
    private static final List<String> OTHERS =
            List.of("/tensorflow-lite-", "/pytorch-", "/djl-plan-command-", "/junit");

    private LocalCluster() {}

    /**
     * Returns the settings of two executors with one core each, which have this JVM's class path.
     *
     * @param folder for what Spark writes
     */
    static SparkConf ofTwo(Path folder) throws IOException {
        return of(2, 1, folder, classPath(), JVM);
    }

    /**
     * Returns the settings of executors.
     *
     * @param jvm their options
     */
    static SparkConf of(int executors, int cores, Path folder, String classPath, String jvm)
            throws IOException {
        // A local cluster looks for this folder, to put its jars on class paths.
        Path home = Path.of(System.getenv("SPARK_HOME"));
        Files.createDirectories(home.resolve("assembly/target/scala-2.12/jars"));
        return new SparkConf()
                .setMaster("local-cluster[" + executors + "," + cores + ",1024]")
                .setAppName("classify")
                .set("spark.executor.extraClassPath", classPath)
                .set("spark.executor.extraJavaOptions", jvm)
                // Waits for all executors before the first task.
                .set("spark.scheduler.minRegisteredResourcesRatio", "1")
                .set("spark.driver.host", "127.0.0.1")
                .set("spark.ui.enabled", "false")
                .set("spark.local.dir", folder.resolve("local").toString());
    }

    /**
     * Returns the settings of two executors with one core each. They have Spark's jars, with an old
     * Guava, and what a job brings: its classes, djl-plan, DJL, and an engine.
     *
     * @param engine parts of the names of the engine's jars
     */
    static SparkConf ofTwoWithJars(Path folder, List<String> engine) throws Exception {
        List<String> ofSpark = new ArrayList<>();
        jars().filter(jar -> !isOf(PLANNED_DJL, jar) && !isOf(OTHERS, jar)).forEach(ofSpark::add);
        Path classes =
                Path.of(
                        LocalCluster.class
                                .getProtectionDomain()
                                .getCodeSource()
                                .getLocation()
                                .toURI());
        List<String> ofJob = new ArrayList<>();
        ofJob.add(archive(classes, folder.resolve("job.jar")).toString());
        jars().filter(jar -> isOf(PLANNED_DJL, jar) || isOf(engine, jar)).forEach(ofJob::add);
        return of(2, 1, folder, String.join(File.pathSeparator, ofSpark), JVM)
                .set("spark.jars", String.join(",", ofJob));
    }

    private static String nameOf(String part) {
        return jars().filter(jar -> jar.contains(part) && !jar.endsWith("-tests.jar"))
                .map(jar -> new File(jar).getName())
                .findFirst()
                .orElseThrow();
    }

    private static boolean isOf(List<String> parts, String jar) {
        return parts.stream().anyMatch(jar::contains);
    }

    private static Stream<String> jars() {
        return Arrays.stream(classPath().split(File.pathSeparator))
                .filter(jar -> jar.endsWith(".jar"));
    }

    /** Returns the class path of this JVM. */
    static String classPath() {
        return System.getProperty(
                "surefire.test.class.path", System.getProperty("java.class.path"));
    }

    /** Writes an archive of a folder's files. */
    static Path archive(Path folder, Path archive) throws IOException {
        try (OutputStream bytes = Files.newOutputStream(archive);
                ZipOutputStream zip = new ZipOutputStream(bytes);
                Stream<Path> files = Files.walk(folder)) {
            for (Path each : files.filter(Files::isRegularFile).toList()) {
                String name = folder.relativize(each).toString().replace(File.separator, "/");
                zip.putNextEntry(new ZipEntry(name));
                Files.copy(each, zip);
            }
        }
        return archive;
    }
}
