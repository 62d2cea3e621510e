package org.djlplan.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.djlplan.memplan.internal.config.OptionKey;
import org.djlplan.memplan.report.WeightIo;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code djlplan budget}: runs a model with smaller and smaller budgets. */
@Command(
        name = "budget",
        defaultValueProvider = FewPairs.class,
        description = {
            "Run a model with byte budgets and compare it with the stock engine: "
                    + "peak of resident memory above the idle runtime, latency in turns with "
                    + "stock's, stalls, and the smallest budget.",
            "Warm means with the weights in the page cache, cold with the pages of "
                    + "the model's files dropped before each prediction. If memory control "
                    + "groups can be created (root), the model also runs in a group that is "
                    + "limited to the idle runtime, the budget and 5 %% of the budget, and is"
                    + " also charged for file pages.",
            "Exits with 1 when a budget is exceeded by more than 5 %%, or outputs differ from"
                    + " stock's (PyTorch: by more than 1e-6)."
        })
final class BudgetCommand implements Callable<Integer> {

    /** Slices add up sums in another order. */
    private static final double PYTORCH_ERROR = 1e-6;

    /** The largest difference that the acceptance rule for delegated outputs allows. */
    private static final double DELEGATED_ERROR = 1e-2;

    @Spec private CommandSpec spec;

    @Mixin private RunOptions options = new RunOptions();

    @Option(
            names = "--budgets",
            paramLabel = "BUDGET",
            split = ",",
            defaultValue = "1/2,1/4,1/8,1/16",
            description =
                    "Budgets, in this order: fractions of stock's peak (1/8, 12.5%%) or "
                            + "sizes (64MB) (default: ${DEFAULT-VALUE}).")
    private List<BudgetSweep.Wanted> budgets = new ArrayList<>();

    @Option(
            names = "--io",
            paramLabel = "WAY",
            description = "How weights are read: auto, cached, mmap or direct (default: auto).")
    private Optional<WeightIo> io = Optional.empty();

    @Option(
            names = "--delegation",
            description =
                    "Let XNNPACK run the operators that save time in each budget "
                            + "(TensorFlow Lite). Outputs are then not stock's bytes.")
    private boolean delegation;

    @Mixin private JsonOption json = new JsonOption();

    @Override
    public Integer call() throws IOException {
        if (options.arguments().containsKey(OptionKey.BUDGET.key())) {
            throw new ParameterException(
                    spec.commandLine(),
                    "-o " + OptionKey.BUDGET.key() + ": give --budgets and --io");
        }
        options.check(true, true);
        boolean delegates =
                delegation && options.engine() == EngineKind.TFLITE && options.mayDelegate();
        RunMode mode = delegates ? RunMode.DELEGATED : RunMode.PLANNED;
        PrintWriter err = spec.commandLine().getErr();
        BudgetSweep sweep = new BudgetSweep(options, io, mode, err::println);
        BudgetTable table = new BudgetTable(options, sweep.run(budgets));
        json.print(() -> table.json(false), table::text);
        return Failure.complain(
                err,
                table.complaints(
                        mode == RunMode.DELEGATED
                                ? DELEGATED_ERROR
                                : options.engine() == EngineKind.PYTORCH ? PYTORCH_ERROR : 0));
    }
}
