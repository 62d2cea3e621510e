package org.djlplan.cli;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.djlplan.cli.BudgetSweep.Wanted;
import org.djlplan.memplan.internal.config.OptionKey;
import org.djlplan.memplan.internal.json.Json;
import org.djlplan.memplan.report.BudgetReport;

/**
 * Measures how large a container must be to serve a model. The model runs once without a limit,
 * which yields a size. If control groups can be created, the model then runs in a group of that
 * size, with none of the model's files cached, as in a new container. If that process is killed,
 * the model runs again in larger groups.
 */
final class SizeProbe {

    /** Number of predictions per thread. */
    private static final int PREDICTIONS = 3;

    /** The largest of these sizes is 1.5 times the first. */
    private static final int MOST_SIZES = 9;

    private static final long WORKER_HEAP_BYTES = (long) WorkerProcess.Jvm.HEAP_MEBIBYTES << 20;

    private final RunOptions options;
    private final int pool;
    private final long heapBytes;
    private final Consumer<String> news;

    /** The name of the row of a model with memory planning. */
    static final String PLANNED = "djl-plan";

    /**
     * @param pool number of predictions at once
     * @param heapBytes the application's heap
     * @param news receives a description of each step
     */
    SizeProbe(RunOptions options, int pool, long heapBytes, Consumer<String> news) {
        this.options = options;
        this.pool = pool;
        this.heapBytes = heapBytes;
        this.news = news;
    }

    /**
     * The memory that a model needs in one configuration.
     *
     * @param name of the mode
     * @param size empty if the model does not run in this configuration
     * @param checked whether the model ran in a control group of that size
     * @param refusal why the model does not run; empty if it does
     * @param leastBudgetBytes the smallest possible budget according to the model
     * @param report the model's report on its budget; empty if it has none
     */
    record Row(
            String name,
            Optional<ContainerSize> size,
            boolean checked,
            Optional<String> refusal,
            OptionalLong leastBudgetBytes,
            Optional<BudgetReport> report) {

        JsonObject toJson() {
            JsonObject json = new JsonObject();
            size.ifPresent(
                    each -> {
                        json.asMap().putAll(Json.tree(each).getAsJsonObject().asMap());
                        json.asMap().putAll(Json.tree(each.settings()).getAsJsonObject().asMap());
                    });
            json.addProperty("name", name);
            json.addProperty("measuredInGroup", checked);
            refusal.ifPresent(why -> json.addProperty("refused", why));
            report.ifPresent(budget -> json.add("budget", Json.tree(budget)));
            return json;
        }
    }

    /** A measurement without a limit. */
    private record Measured(ContainerSize size, Optional<BudgetReport> report) {}

    /**
     * Measures the stock engine, the model with memory planning, and the model with each budget.
     *
     * @throws Failure if the stock engine cannot run the model
     */
    List<Row> run(List<Wanted> budgets) throws IOException {
        List<Row> rows = new ArrayList<>();
        Measured stock = measure(RunMode.STOCK, options);
        rows.add(checked(RunMode.STOCK.label(), RunMode.STOCK, options, stock));
        // A stored result, for example of a lower precision, may need another amount of memory.
        boolean delegates = options.mentionsDelegation() && options.mayDelegate();
        rows.add(row(PLANNED, delegates ? RunMode.DELEGATED : RunMode.PLANNED, options));
        for (Wanted wanted : budgets) {
            String bytes = Long.toString(wanted.bytes(stock.size().modelBytes()));
            rows.add(row("budget " + wanted.name(), options.with(OptionKey.BUDGET, bytes + "B")));
        }
        OptionalLong least =
                rows.stream().flatMapToLong(row -> row.leastBudgetBytes().stream()).min();
        if (least.isPresent()) {
            String bytes = Long.toString(least.getAsLong());
            rows.add(row("least budget", options.with(OptionKey.BUDGET, bytes + "B")));
        }
        return rows;
    }

    private Row row(String name, RunOptions inside) throws IOException {
        return row(name, RunMode.PLANNED, inside);
    }

    private Row row(String name, RunMode mode, RunOptions inside) throws IOException {
        try {
            news.accept(name + ": loading");
            // Slices the model if the budget requires it, and stores the result.
            Measured unused = measure(mode, inside);
            return checked(name, mode, inside, measure(mode, inside));
        } catch (Failure.TooSmall e) {
            return refused(name, e, OptionalLong.of(e.leastBytes()));
        } catch (Failure e) {
            return refused(name, e, OptionalLong.empty());
        }
    }

    private static Row refused(String name, Failure why, OptionalLong leastBudgetBytes) {
        return new Row(
                name,
                Optional.empty(),
                false,
                Optional.of(Failure.describe(why)),
                leastBudgetBytes,
                Optional.empty());
    }

    private Measured measure(RunMode mode, RunOptions inside) {
        try (WorkerProcess worker = start(mode, inside, List.of())) {
            worker.awaitIdle();
            serve(worker);
            RunFigures figures = worker.figures();
            OptionalDouble peak = figures.get(Figure.PEAK);
            OptionalDouble above = figures.get(Figure.PEAK_ABOVE_IDLE);
            if (peak.isEmpty() || above.isEmpty()) {
                throw new Failure("peaks of memory cannot be measured here");
            }
            long modelBytes = (long) above.getAsDouble();
            long runtimeBytes = (long) peak.getAsDouble() - modelBytes - WORKER_HEAP_BYTES;
            worker.finish();
            return new Measured(
                    ContainerSize.of(Math.max(0, runtimeBytes), heapBytes, modelBytes),
                    figures.budget());
        }
    }

    private void serve(WorkerProcess worker) {
        worker.load();
        worker.runAtOnce(pool, PREDICTIONS);
    }

    private Row checked(String name, RunMode mode, RunOptions inside, Measured measured)
            throws IOException {
        ContainerSize size = measured.size();
        Optional<Boolean> fits = fits(name, mode, inside, size);
        for (int i = 1; i < MOST_SIZES && !fits.orElse(true); i++) {
            size = size.larger();
            fits = fits(name, mode, inside, size);
        }
        boolean killed = !fits.orElse(true);
        return new Row(
                name,
                killed ? Optional.empty() : Optional.of(size),
                fits.isPresent(),
                killed
                        ? Optional.of(
                                "killed in a control group of " + size.settings().kubernetesLimit())
                        : Optional.empty(),
                least(measured),
                measured.report());
    }

    private static OptionalLong least(Measured measured) {
        return measured.report().stream().mapToLong(BudgetReport::leastBudgetBytes).min();
    }

    /** Returns whether the model runs in a container of a size; empty if that cannot be tested. */
    private Optional<Boolean> fits(String name, RunMode mode, RunOptions inside, ContainerSize size)
            throws IOException {
        news.accept(name + ": in a control group of " + size.settings().kubernetesLimit());
        Optional<MemoryGroup> made = MemoryGroup.make();
        if (made.isEmpty()) {
            return Optional.empty();
        }
        ModelPages.drop(options.model());
        try (MemoryGroup group = made.get();
                WorkerProcess worker = start(mode, inside, group.starter())) {
            worker.awaitIdle();
            group.limit(size.limitBytes() - size.heapBytes() + WORKER_HEAP_BYTES);
            serve(worker);
            return Optional.of(true);
        } catch (Failure.OutOfMemory e) {
            return Optional.of(false);
        }
    }

    private WorkerProcess start(RunMode mode, RunOptions inside, List<String> starter) {
        return WorkerProcess.start(
                new WorkerProcess.Contestant(mode.label(), mode, Map.of()),
                inside,
                news,
                starter,
                inside.engine() == EngineKind.TFLITE);
    }
}
