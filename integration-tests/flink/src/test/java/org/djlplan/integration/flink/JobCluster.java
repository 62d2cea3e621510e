package org.djlplan.integration.flink;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * A Flink cluster with one task manager of two slots, to which jars are submitted. As Flink does by
 * default, it loads classes from the job's jar first; its own class path is the test's.
 */
final class JobCluster implements AutoCloseable {

    static final int RESTARTS = 5;

    private static final int SLOTS = 2;

    private final MiniCluster cluster;

    JobCluster() throws Exception {
        Configuration configuration = new Configuration();
        configuration.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(16));
        configuration.setString("metrics.reporters", "seen");
        configuration.setString(
                "metrics.reporter.seen.factory.class", SeenMetrics.Factory.class.getName());
        configuration.setString("metrics.reporter.seen.interval", "20 MILLISECONDS");
        cluster =
                new MiniCluster(
                        new MiniClusterConfiguration.Builder()
                                .setConfiguration(configuration)
                                .setNumTaskManagers(1)
                                .setNumSlotsPerTaskManager(SLOTS)
                                .withRandomPorts()
                                .build());
        cluster.start();
    }

    /**
     * Returns the environment for a job in all slots, whose tasks see a folder as {@code
     * "classifier"}.
     */
    StreamExecutionEnvironment environment(Path jar, Path model) throws Exception {
        Configuration configuration = new Configuration();
        configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        configuration.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, RESTARTS);
        configuration.set(
                RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(50));
        configuration.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(100));
        URI rest = cluster.getRestAddress().get();
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.createRemoteEnvironment(
                        rest.getHost(), rest.getPort(), configuration, jar.toString());
        environment.setParallelism(SLOTS);
        environment.registerCachedFile(model.toString(), "classifier");
        return environment;
    }

    @Override
    public void close() {
        cluster.closeAsync().join();
    }
}
