package org.djlplan.integration.flink;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** Base of the job tests: a cluster, and a folder for the jobs' model. */
@Tag("pipelines")
abstract class JobTests {

    static final long ROWS = 60;

    private static final int SUBMISSIONS = 3;

    @TempDir static Path folder;

    static JobCluster cluster;
    static Path model;

    @BeforeAll
    static void startCluster() throws Exception {
        model = Files.createDirectory(folder.resolve("model"));
        cluster = new JobCluster();
    }

    @AfterAll
    static void stopCluster() throws Exception {
        UserCode.assertCollected();
        cluster.close();
    }

    @BeforeEach
    void forget() {
        UserCode.forget();
    }

    /** Returns the numbers from 0, one for each row of a job. */
    static DataStream<Long> numbers(Path jar) throws Exception {
        return cluster.environment(jar, model).fromSequence(0, ROWS - 1);
    }

    /** Runs a job to its end: requests one more row than there should be. */
    static <T> List<T> run(DataStream<T> job) throws Exception {
        return job.executeAndCollect((int) ROWS + 1);
    }

    /**
     * Submits a job repeatedly. After the last test, its class loaders must be collected.
     *
     * @param other another job, which runs before the first submission, because the class loaders
     *     of a JVM's first jobs stay for minutes
     */
    static void submit(Callable<?> other, Callable<?> job) throws Exception {
        UserCode.warm(other);
        UserCode.forget();
        for (int i = 0; i < SUBMISSIONS; i++) {
            job.call();
        }
        assertEquals(SUBMISSIONS, UserCode.count(), "jobs without a loader of their own");
        UserCode.end();
    }
}
