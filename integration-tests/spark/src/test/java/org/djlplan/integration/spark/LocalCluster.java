package org.djlplan.integration.spark;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.spark.SparkConf;

/** Executors in JVMs of their own on this machine, and archives that Spark brings to them. */
final class LocalCluster {

    /** An executor's cache is in its own folder, as on a machine of its own. */
    static final String JVM = "-Dai.djl.offline=true -DDJL_CACHE_DIR=cache";

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
        // A local cluster looks for these, to put them on class paths.
        Path home = Path.of(System.getenv("SPARK_HOME"));
        Files.createDirectories(home.resolve("assembly/target/scala-2.12/jars"));
        return new SparkConf()
                .setMaster("local-cluster[" + executors + "," + cores + ",1024]")
                .setAppName("classify")
                .set("spark.executor.extraClassPath", classPath)
                .set("spark.executor.extraJavaOptions", jvm)
                // All of them before the first task.
                .set("spark.scheduler.minRegisteredResourcesRatio", "1")
                .set("spark.driver.host", "127.0.0.1")
                .set("spark.ui.enabled", "false")
                .set("spark.local.dir", folder.resolve("local").toString());
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
