package org.djlplan.cli;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.djlplan.delegation.internal.DelegationOptions;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.json.Json;
import org.djlplan.memplan.internal.measure.TorchDelegableModel;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code djlplan compare}: runs a model as stock, planned and delegated, and prints all figures
 * with ratios.
 */
@Command(
        name = "compare",
        description = {
            "Run a model as stock, planned and delegated, each in its own process, and compare.",
            "Planned means with memory planning only, which gives the same bytes. "
                    + "Delegated, for TFLite and TorchScript models, is what an application gets with"
                    + " djl-delegation; it is measured first if no result is stored.",
            "Exits with 1 when planned outputs are not identical to stock's, or "
                    + "delegated ones differ by more than the limit: delegation.tolerance, or"
                    + " more if the CPU kernels themselves are as noisy.",
            "Without --threads, stock is DJL untouched; with it, stock is a bare TFLite interpreter"
                    + " with as many threads (on current DJL: our engine TFLite, unplanned), or"
                    + " DJL's PyTorch engine with as many for both."
        })
final class CompareCommand implements Callable<Integer> {

    @Spec private CommandSpec spec;

    @Mixin private RunOptions options = new RunOptions();

    @Mixin private JsonOption json = new JsonOption();

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "5",
            description =
                    "Turns that the timed predictions are spread over (default: ${DEFAULT-VALUE}).")
    private int rounds;

    @Option(
            names = "--fresh",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "Repeat everything N times with new processes and report medians; --json has"
                            + " each run, too. Repetitions matter because how often memory is returned"
                            + " to the system varies by chance from process to process (default:"
                            + " ${DEFAULT-VALUE}).")
    private int fresh;

    @Option(
            names = "--against",
            paramLabel = "NAME",
            split = ",",
            description =
                    "Also run stock with these, each in its own process. Allocators: tuned-malloc"
                            + " (the C library's, set by MALLOC_MMAP_THRESHOLD_ and"
                            + " MALLOC_TRIM_THRESHOLD_ to keep blocks up to 1 GiB), jemalloc"
                            + " (libjemalloc.so.2, preloaded; left out if it is not installed). Linux"
                            + " only. djl-0.27: with DJL 0.27.0 and its TFLite engine as the"
                            + " distribution has them; djl-0.27=PATH: from that folder of jars or that"
                            + " class path. TFLite only.")
    private Set<Rival> against = new LinkedHashSet<>();

    @Option(
            names = "--tolerance",
            paramLabel = "X",
            defaultValue = "0",
            description =
                    "Relative error of the outputs that is accepted in addition (default: "
                            + "${DEFAULT-VALUE}).")
    private double tolerance;

    @Mixin private DelegationSwitch delegation = new DelegationSwitch();

    @Option(
            names = "--only-delegation",
            description =
                    "Leave out the run with memory planning only. TFLite and TorchScript only.")
    private boolean onlyDelegation;

    @Override
    public Integer call() throws IOException {
        Comparer.Extent extent = extent();
        options.check(true, true);
        PrintWriter err = spec.commandLine().getErr();
        Comparison comparison = new Comparer(err, Optional.empty()).compare(options, extent);
        Map<String, String> lower = lowerPrecisions(extent.modes(), err);
        json.print(
                () -> {
                    JsonObject object = comparison.toJson();
                    object.add("lowerPrecisions", Json.tree(lower));
                    return object;
                },
                () -> {
                    StringBuilder text = new StringBuilder(FigureTable.of(comparison));
                    lower.forEach(
                            (name, choice) ->
                                    text.append(LowerPrecisions.sentence(name, choice))
                                            .append('\n'));
                    return text.toString();
                });
        return Failure.complain(err, comparison.complaints());
    }

    /** Measures what a lower precision would bring to a TorchScript model. */
    private Map<String, String> lowerPrecisions(Set<RunMode> modes, PrintWriter err) {
        if (!modes.contains(RunMode.DELEGATED)
                || options.engine() != EngineKind.PYTORCH
                || !(options.model() instanceof ModelRef.OfFile file)) {
            return Map.of();
        }
        try {
            EngineKind.PYTORCH.load();
            TorchDelegableModel model =
                    TunedModel.torchScript(file.readable(), options.inputs(), options.threads());
            PlanOptions plan = PlannedLoading.parse(options.arguments());
            return LowerPrecisions.of(model, DelegationOptions.parse(plan.delegation()));
        } catch (IOException | Failure e) {
            err.println("lower precisions are not measured: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return Map.of();
    }

    private Comparer.Extent extent() {
        try {
            against.forEach(rival -> rival.check(options.engine()));
            return new Comparer.Extent(rounds, fresh, against, modes(), tolerance);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    private Set<RunMode> modes() {
        Set<RunMode> modes = delegation.modes(options);
        checkArgument(
                !onlyDelegation || modes.contains(RunMode.DELEGATED),
                "--only-delegation is for TFLite and TorchScript models that may be delegated");
        return onlyDelegation ? ImmutableSet.of(RunMode.DELEGATED) : modes;
    }
}
