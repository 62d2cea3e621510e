package org.djlplan.memplan.metrics;

import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.djlplan.memplan.PlannedModels;
import org.djlplan.memplan.report.PoolReport;

/**
 * Meters of the resources that all planned models of this process share.
 *
 * <table> <caption>Meters</caption> <tr><th>name</th><th>kind</th><th>what</th></tr> <tr><td>{@code
 * djlplan.arenas}, {@code djlplan.arenas.bytes}, {@code djlplan.arenas.used}</td>
 * <td>gauges</td><td>arenas that exist, their size, how many are in use</td></tr> <tr><td>{@code
 * djlplan.workspaces.bytes}</td><td>gauge</td><td>delegate kernels'
 * workspaces</td></tr> <tr><td>{@code djlplan.packed.bytes}</td><td>gauge</td><td>weights that
 * interpreters of a model share</td></tr> <tr><td>{@code djlplan.workers.busy}, {@code
 * djlplan.workers.waiting}</td><td>gauges</td><td>forward passes that run, and that wait for a
 * worker</td></tr> <tr><td>{@code djlplan.wait}</td><td>timer</td><td>waits of predictions;
 * {@code cause} is a {@link PoolReport.Cause}</td></tr> </table>
 */
public final class PoolMetrics implements MeterBinder {

    /** Meters of this process. */
    public PoolMetrics() {}

    @Override
    public void bindTo(MeterRegistry registry) {
        gauge(registry, "djlplan.arenas", report -> report.arenas().count());
        bytes(registry, "djlplan.arenas.bytes", report -> report.arenas().bytes());
        gauge(registry, "djlplan.arenas.used", report -> report.arenas().inUse());
        bytes(registry, "djlplan.workspaces.bytes", report -> report.workspaces().bytes());
        bytes(registry, "djlplan.packed.bytes", PoolReport::packedWeightsBytes);
        gauge(registry, "djlplan.workers.busy", report -> report.workers().busy());
        gauge(registry, "djlplan.workers.waiting", report -> report.workers().waiting());
        for (PoolReport.Cause cause : PoolReport.Cause.values()) {
            FunctionTimer.builder(
                            "djlplan.wait",
                            PoolMetrics.class,
                            process -> PlannedModels.pools().waits(cause).count(),
                            now(report -> report.waits(cause).nanos()),
                            TimeUnit.NANOSECONDS)
                    .description("Waits of predictions")
                    .tags("cause", cause.name())
                    .register(registry);
        }
    }

    /**
     * A count has no unit, because Prometheus appends every unit to the name, even an empty one.
     */
    private static void gauge(
            MeterRegistry registry, String name, ToDoubleFunction<PoolReport> figure) {
        Gauge.builder(name, PoolMetrics.class, now(figure)).register(registry);
    }

    private static void bytes(
            MeterRegistry registry, String name, ToDoubleFunction<PoolReport> figure) {
        Gauge.builder(name, PoolMetrics.class, now(figure)).baseUnit("bytes").register(registry);
    }

    private static <T> ToDoubleFunction<T> now(ToDoubleFunction<PoolReport> figure) {
        return process -> figure.applyAsDouble(PlannedModels.pools());
    }
}
