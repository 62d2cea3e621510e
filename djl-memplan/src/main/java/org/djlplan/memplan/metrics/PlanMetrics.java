package org.djlplan.memplan.metrics;

import ai.djl.Model;
import ai.djl.nn.Block;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.report.BudgetReport;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.MemoryReport;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * Meters of one planned model, with the tags {@code model} (its name), {@code id} and {@code
 * engine}. In Spring Boot a bean of this class is bound by the framework; elsewhere call {@link
 * #bindTo}. The meters do not keep the model alive. A model that was not loaded through djl-plan
 * has no meters. Meters of an earlier model with the same name and id are replaced.
 *
 * <table> <caption>Meters</caption> <tr><th>name</th><th>kind</th><th>what</th></tr> <tr><td>{@code
 * djlplan.arena.bytes}</td><td>gauge</td><td>size of the arena</td></tr> <tr><td>{@code
 * djlplan.io.bytes}</td><td>gauge</td><td>inputs and outputs, which the engine allocates
 * itself</td></tr> <tr><td>{@code djlplan.peak.bytes}, {@code djlplan.peak.process.bytes}</td><td>gauges</td><td>the
 * most memory of one prediction so far; of the process since the model was loaded</td></tr> <tr><td>{@code
 * djlplan.predictions}</td><td>counter</td><td>predictions; {@code
 * planned} is {@code true} in an arena, with or without a plan, {@code false} outside</td></tr> <tr><td>{@code
 * djlplan.memory.bytes}</td><td>gauge</td><td>memory of the process; {@code part} is a component of
 * {@link MemoryReport} without {@code Bytes}, such as {@code kernels}</td></tr> <tr><td>{@code
 * djlplan.delegation}</td><td>gauge</td><td>operators in the delegate, where delegation is on;
 * {@code origin} is {@code UNVERIFIED}, {@code VERIFIED}, {@code MEASURED} or {@code STORED}, and
 * all but the present one are 0</td></tr> <tr><td>{@code djlplan.budget.bytes}, {@code
 * djlplan.budget.least.bytes}</td><td>gauges</td><td>the budget of a model that has one, infinite
 * for no limit; the smallest possible budget</td></tr> <tr><td>{@code djlplan.budget.loaded.bytes},
 * {@code djlplan.budget.stall.seconds}</td><td>gauges</td><td>weights that every prediction loads;
 * how long the last one waited for them</td></tr> </table>
 */
public final class PlanMetrics implements MeterBinder {

    private static final ImmutableMap<String, ToDoubleFunction<MemoryReport>> PARTS =
            ImmutableMap.<String, ToDoubleFunction<MemoryReport>>builder()
                    .put("heap", MemoryReport::heapBytes)
                    .put("jvm", MemoryReport::jvmBytes)
                    .put("weights", MemoryReport::weightsBytes)
                    .put("arenas", MemoryReport::arenasBytes)
                    .put("kernels", MemoryReport::kernelsBytes)
                    .put("engine", MemoryReport::engineBytes)
                    .put("kept", MemoryReport::keptBytes)
                    .put("files", MemoryReport::filesBytes)
                    .put("rest", MemoryReport::restBytes)
                    .buildOrThrow();

    private static final double NANOS = 1e9;

    private final Model model;
    private final String id;

    /** A snapshot of the process's memory, read once for all gauges of one collection. */
    private static final class Reading {

        private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(1);

        private Optional<MemoryReport> last = Optional.empty();
        private long when;

        private synchronized double figure(Model model, ToDoubleFunction<MemoryReport> part) {
            if (last.isEmpty() || System.nanoTime() - when > FRESH_NANOS) {
                last = PlanHandle.of(model).flatMap(PlanHandle::memory);
                when = System.nanoTime();
            }
            return last.map(part::applyAsDouble).orElse(Double.NaN);
        }
    }

    /**
     * Meters of a loaded model. Its {@code id} is a number: 1, or another one while further models
     * of its name have meters. All models that {@link org.djlplan.memplan.PlannedModels#acquire}
     * returns for one key have the same number.
     */
    public PlanMetrics(Model model) {
        this(model, MeterIds.of(model.getName(), owner(model)));
    }

    /** Returns the block, because all views of a shared model have the same one. */
    private static Object owner(Model model) {
        Block block = model.getBlock();
        return block == null ? model : block;
    }

    /**
     * Meters of a loaded model with an identifier that the application knows.
     *
     * @param id unique among models of the same name in this process, such as the model's version
     * @since 0.3
     */
    public PlanMetrics(Model model, String id) {
        this.model = model;
        this.id = id;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        PlanReport.of(model).ifPresent(report -> bindTo(registry, report));
    }

    private void bindTo(MeterRegistry registry, PlanReport now) {
        Tags tags = Tags.of("model", model.getName(), "id", id, "engine", now.engine());
        registry.getMeters().stream()
                .filter(meter -> isOfModel(meter.getId(), tags))
                .forEach(registry::remove);
        Gauge.builder("djlplan.arena.bytes", model, now(report -> report.plan().arenaBytes()))
                .description("Size of the arena")
                .baseUnit("bytes")
                .tags(tags)
                .register(registry);
        Gauge.builder("djlplan.io.bytes", model, now(report -> report.plan().inputOutputBytes()))
                .description("Inputs and outputs, which the engine allocates itself")
                .baseUnit("bytes")
                .tags(tags)
                .register(registry);
        Gauge.builder("djlplan.peak.bytes", model, now(PlanMetrics::peakBytes))
                .description("Most memory of one prediction so far")
                .baseUnit("bytes")
                .tags(tags)
                .register(registry);
        Gauge.builder("djlplan.peak.process.bytes", model, now(PlanMetrics::processPeakBytes))
                .description("Most memory of the process since the model was loaded")
                .baseUnit("bytes")
                .tags(tags)
                .register(registry);
        Reading memory = new Reading();
        PARTS.forEach(
                (part, figure) ->
                        Gauge.builder(
                                        "djlplan.memory.bytes",
                                        model,
                                        read -> memory.figure(read, figure))
                                .description("Memory of the process by purpose")
                                .baseUnit("bytes")
                                .tags(tags.and("part", part))
                                .register(registry));
        count(registry, tags.and("planned", "true"), PlanMetrics::planned);
        count(registry, tags.and("planned", "false"), report -> report.predictions().unplanned());
        if (now.budget().isPresent()) {
            bindBudget(registry, tags);
        }
        if (now.delegation().isPresent()) {
            for (DelegationReport.Origin origin : DelegationReport.Origin.values()) {
                Gauge.builder(
                                "djlplan.delegation",
                                model,
                                now(report -> delegatedOperators(report, origin)))
                        .description("Operators that run in the delegate")
                        .tags(tags.and("origin", origin.name()))
                        .register(registry);
            }
        }
    }

    private static boolean isOfModel(Meter.Id meter, Tags tags) {
        return meter.getName().startsWith("djlplan.")
                && tags.stream().allMatch(meter.getTags()::contains);
    }

    private void bindBudget(MeterRegistry registry, Tags tags) {
        gauge(registry, "djlplan.budget.bytes", "bytes", tags, PlanMetrics::budgetBytes);
        gauge(
                registry,
                "djlplan.budget.least.bytes",
                "bytes",
                tags,
                BudgetReport::leastBudgetBytes);
        gauge(
                registry,
                "djlplan.budget.loaded.bytes",
                "bytes",
                tags,
                BudgetReport::bytesLoadedPerPrediction);
        gauge(
                registry,
                "djlplan.budget.stall.seconds",
                "seconds",
                tags,
                budget -> budget.lastStallNanos().orElse(0) / NANOS);
    }

    private void gauge(
            MeterRegistry registry,
            String name,
            String unit,
            Tags tags,
            ToDoubleFunction<BudgetReport> figure) {
        Gauge.builder(
                        name,
                        model,
                        now(
                                report ->
                                        report.budget()
                                                .map(figure::applyAsDouble)
                                                .orElse(Double.NaN)))
                .description("The budget of a model")
                .baseUnit(unit)
                .tags(tags)
                .register(registry);
    }

    private static double budgetBytes(BudgetReport budget) {
        return budget.budgetBytes() == BudgetReport.UNLIMITED
                ? Double.POSITIVE_INFINITY
                : budget.budgetBytes();
    }

    private void count(MeterRegistry registry, Tags tags, ToDoubleFunction<PlanReport> what) {
        FunctionCounter.builder("djlplan.predictions", model, now(what))
                .description("Predictions in an arena, with or without a plan, and others")
                .tags(tags)
                .register(registry);
    }

    private static double peakBytes(PlanReport report) {
        return report.peak().map(peak -> (double) peak.predictionBytes()).orElse(0.0);
    }

    private static double processPeakBytes(PlanReport report) {
        return report.peak()
                .filter(peak -> peak.processBytes().isPresent())
                .map(peak -> (double) peak.processBytes().getAsLong())
                .orElse(Double.NaN);
    }

    private static double planned(PlanReport report) {
        return report.predictions().total() - report.predictions().unplanned();
    }

    private static double delegatedOperators(PlanReport report, DelegationReport.Origin origin) {
        return report.delegation()
                .filter(d -> d.origin() == origin)
                .map(d -> (double) d.delegatedOperators())
                .orElse(0.0);
    }

    /** Returns a function that reads a figure from the current report. */
    private static ToDoubleFunction<Model> now(ToDoubleFunction<PlanReport> figure) {
        return model -> PlanReport.of(model).map(figure::applyAsDouble).orElse(Double.NaN);
    }
}
