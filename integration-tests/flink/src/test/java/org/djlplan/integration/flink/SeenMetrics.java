package org.djlplan.integration.flink;

import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricConfig;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.reporter.MetricReporter;
import org.apache.flink.metrics.reporter.MetricReporterFactory;
import org.apache.flink.metrics.reporter.Scheduled;

/** Reads djl-plan's gauges as a cluster's reporter does, and keeps the largest values. */
public final class SeenMetrics implements MetricReporter, Scheduled {

    private static final Map<String, Long> LARGEST = new ConcurrentHashMap<>();

    private final Map<Gauge<?>, String> gauges = new ConcurrentHashMap<>();

    /** The factory through which the cluster creates the reporter. */
    public static final class Factory implements MetricReporterFactory {
        @Override
        public MetricReporter createMetricReporter(Properties properties) {
            return new SeenMetrics();
        }
    }

    /** Returns the largest value of each gauge so far. */
    static Map<String, Long> largest() {
        return Map.copyOf(LARGEST);
    }

    @Override
    public void open(MetricConfig config) {
        // There is nothing to configure.
    }

    @Override
    public void close() {
        gauges.clear();
    }

    @Override
    public void notifyOfAddedMetric(Metric metric, String name, MetricGroup group) {
        if (metric instanceof Gauge<?> gauge
                && group.getMetricIdentifier(name).contains("djlplan")) {
            gauges.put(gauge, name);
        }
    }

    @Override
    public void notifyOfRemovedMetric(Metric metric, String name, MetricGroup group) {
        if (metric instanceof Gauge<?> gauge) {
            gauges.remove(gauge);
        }
    }

    @Override
    public void report() {
        gauges.forEach((gauge, name) -> LARGEST.merge(name, (Long) gauge.getValue(), Math::max));
    }
}
