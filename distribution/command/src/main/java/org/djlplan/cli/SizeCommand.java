package org.djlplan.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.djlplan.memplan.internal.config.OptionKey;
import org.djlplan.memplan.internal.config.Quantities;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code djlplan size}: measures how large a container must be to serve a model. */
@Command(
        name = "size",
        description = {
            "Measure how large a container must be to serve a model: as stock, with"
                    + " memory planning, and with budgets. Print it as a Kubernetes limit, "
                    + "JVM options, Spark's spark.executor.memoryOverhead and djl-serving's "
                    + "required_memory_mb.",
            "The sizes are tested in memory control groups if these can be created "
                    + "(root), otherwise predicted from a run without a limit.",
            "They include a reserve of a twentieth. The application's own native "
                    + "memory is unknown and not included."
        })
final class SizeCommand implements Callable<Integer> {

    private static final double MEBI = 1 << 20;

    @Spec private CommandSpec spec;

    @Mixin private RunOptions options = new RunOptions();

    @Option(
            names = "--budgets",
            paramLabel = "BUDGET",
            split = ",",
            defaultValue = "1/4",
            description =
                    "Budgets: fractions of stock's peak (1/8, 12.5%%) or sizes (64MB) "
                            + "(default: ${DEFAULT-VALUE}); the smallest possible one is added.")
    private List<BudgetSweep.Wanted> budgets = new ArrayList<>();

    @Option(
            names = "--heap",
            paramLabel = "SIZE",
            defaultValue = "256MiB",
            converter = SizeConverter.class,
            description = "The application's heap (default: ${DEFAULT-VALUE}).")
    private long heapBytes;

    @Mixin private JsonOption json = new JsonOption();

    @Option(
            names = "--pool",
            paramLabel = "N",
            defaultValue = "1",
            converter = Parsed.Positive.class,
            description = "Threads that predict at once (default: ${DEFAULT-VALUE}).")
    private int pool;

    @Override
    public Integer call() throws IOException {
        if (options.arguments().containsKey(OptionKey.BUDGET.key())) {
            throw new ParameterException(
                    spec.commandLine(), "-o " + OptionKey.BUDGET.key() + ": give --budgets");
        }
        options.check(true, true);
        PrintWriter err = spec.commandLine().getErr();
        List<SizeProbe.Row> rows =
                new SizeProbe(options, pool, heapBytes, err::println).run(budgets);
        json.print(() -> json(rows), () -> text(rows));
        return 0;
    }

    private String text(List<SizeProbe.Row> rows) {
        TextTable table =
                new TextTable(
                        true,
                        "MiB",
                        "runtime",
                        "heap",
                        "model",
                        "container",
                        "limits.memory",
                        "memoryOverhead",
                        "required_memory_mb",
                        "");
        List<String> notes = new ArrayList<>();
        for (SizeProbe.Row row : rows) {
            row.size().ifPresent(size -> table.row(cells(row, size)));
            row.refusal().ifPresent(why -> notes.add(row.name() + ": " + why));
            row.report().ifPresent(report -> notes.add(row.name() + ": " + report));
        }
        StringBuilder text = new StringBuilder(options.title(", at once: " + pool));
        text.append('\n').append(table.text());
        notes.forEach(note -> text.append(TextTable.plain(note)).append('\n'));
        rows.stream()
                .flatMap(row -> row.size().stream())
                .findFirst()
                .ifPresent(
                        size -> text.append("heap: ").append(size.settings().heap()).append('\n'));
        return text.toString();
    }

    private static String[] cells(SizeProbe.Row row, ContainerSize size) {
        return new String[] {
            row.name(),
            mebibytes(size.runtimeBytes()),
            mebibytes(size.heapBytes()),
            mebibytes(size.modelBytes()),
            mebibytes(size.limitBytes()),
            size.settings().kubernetesLimit(),
            size.settings().sparkMemoryOverhead(),
            Long.toString(size.settings().requiredMemoryMb()),
            row.checked() ? "ran in it" : "predicted"
        };
    }

    private static String mebibytes(long bytes) {
        return Figures.format("%.1f", bytes / MEBI);
    }

    private JsonObject json(List<SizeProbe.Row> rows) {
        JsonObject all = new JsonObject();
        all.addProperty("model", options.modelName());
        all.addProperty("engine", options.engine().engineName());
        all.addProperty("pool", pool);
        JsonArray sizes = new JsonArray();
        rows.forEach(row -> sizes.add(row.toJson()));
        all.add("sizes", sizes);
        return all;
    }

    /** Reads a size. */
    private static final class SizeConverter extends Parsed<Long> {

        SizeConverter() {
            super(
                    text ->
                            Quantities.bytes(text)
                                    .orElseThrow(
                                            () ->
                                                    new IllegalArgumentException(
                                                            "expected a size with its unit such as"
                                                                    + " 256MiB, not '%s'"
                                                                            .formatted(text))));
        }
    }
}
