package org.djlplan.memplan.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.djlplan.memplan.rows.RowFigures;
import org.djlplan.memplan.rows.RowPredictor;

/**
 * Meters of a {@link RowPredictor}, with the tags {@code model} and {@code id}. The meters do not
 * keep the predictor alive. If predictors follow each other, such as one per partition, pass their
 * {@link RowPredictor#figures} to counters of the framework instead.
 *
 * <table> <caption>Meters</caption> <tr><th>name</th><th>kind</th><th>what</th></tr> <tr><td>{@code
 * djlplan.rows}</td><td>counter</td><td>rows that were predicted</td></tr> <tr><td>{@code
 * djlplan.rows.padded}</td><td>counter</td><td>rows that were predicted in vain, so that a last
 * batch had the size of the others</td></tr> <tr><td>{@code
 * djlplan.rows.tokens}</td><td>counter</td><td>tokens of rows that were grouped by length</td></tr>
 * <tr><td>{@code djlplan.rows.tokens.padded}</td><td>counter</td><td>tokens that were predicted in
 * vain, so that rows of a batch were equally long</td></tr> <tr><td>{@code
 * djlplan.rows.batches}</td><td>timer</td><td>batches, and how long they took together, with pre-
 * and post-processing</td></tr> </table>
 */
public final class RowMetrics implements MeterBinder {

    private final String model;
    private final String id;
    private final RowPredictor<?, ?> predictor;

    /**
     * Meters of a predictor. Their {@code id} is a number: 1, or another one while further
     * predictors of that model have meters.
     *
     * @param model name of its model
     */
    public RowMetrics(String model, RowPredictor<?, ?> predictor) {
        this(model, MeterIds.of(model, predictor), predictor);
    }

    /**
     * The same with an identifier that the application knows.
     *
     * @param id unique among predictors of models of the same name in this process
     * @since 0.3
     */
    public RowMetrics(String model, String id, RowPredictor<?, ?> predictor) {
        this.model = model;
        this.id = id;
        this.predictor = predictor;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        Tags tags = Tags.of("model", model, "id", id);
        registry.getMeters().stream()
                .filter(meter -> isOfPredictor(meter.getId(), tags))
                .forEach(registry::remove);
        FunctionCounter.builder("djlplan.rows", predictor, now(RowFigures::rows))
                .description("Rows that were predicted")
                .tags(tags)
                .register(registry);
        FunctionCounter.builder("djlplan.rows.padded", predictor, now(RowFigures::paddedRows))
                .description("Rows that fill up last batches")
                .tags(tags)
                .register(registry);
        FunctionCounter.builder("djlplan.rows.tokens", predictor, now(RowFigures::tokens))
                .description("Tokens of rows that were grouped by length")
                .tags(tags)
                .register(registry);
        FunctionCounter.builder(
                        "djlplan.rows.tokens.padded", predictor, now(RowFigures::paddedTokens))
                .description("Tokens that fill up shorter rows of a batch")
                .tags(tags)
                .register(registry);
        FunctionTimer.builder(
                        "djlplan.rows.batches",
                        predictor,
                        each -> each.figures().batches(),
                        now(RowFigures::predictNanos),
                        TimeUnit.NANOSECONDS)
                .description("Batches of rows")
                .tags(tags)
                .register(registry);
    }

    private static boolean isOfPredictor(Meter.Id meter, Tags tags) {
        return meter.getName().startsWith("djlplan.rows")
                && tags.stream().allMatch(meter.getTags()::contains);
    }

    private static ToDoubleFunction<RowPredictor<?, ?>> now(ToDoubleFunction<RowFigures> figure) {
        return predictor -> figure.applyAsDouble(predictor.figures());
    }
}
