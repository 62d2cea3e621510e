package org.djlplan.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.djlplan.cli.TuneOptions.Setting;
import org.djlplan.delegation.internal.DelegationOptions;
import org.djlplan.delegation.internal.ProfileStore;
import org.djlplan.delegation.internal.Tuning;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.store.CacheFolder;
import org.djlplan.memplan.internal.store.Kept;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.ShapeMix;
import org.djlplan.memplan.spi.UnusableOptionException;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code djlplan tune}: measures which operators of a model to delegate. */
@Command(
        name = "tune",
        description = {
            "Measure which operators of a TensorFlow Lite model run best in the "
                    + "delegate, and store the result next to the model. Loads with the same "
                    + "options use it; without options, those of an application that sets "
                    + "none. An earlier result is replaced.",
            "Candidates run in a child process. If none could be measured, nothing "
                    + "is stored and the exit code is 1."
        })
final class TuneCommand implements Callable<Integer> {

    @Spec private CommandSpec spec;

    @Mixin private TunedModel model = new TunedModel();

    @Mixin private TuneOptions options = new TuneOptions();

    @Option(
            names = "--show",
            description =
                    "Print all stored results of the model without measuring; exits with 1 "
                            + "if there are none.")
    private boolean show;

    @Option(
            names = "--explain",
            description =
                    "Also print for each operator whether it is delegated, and if not, why; one"
                            + " line for consecutive operators with the same reason.")
    private boolean explain;

    @Mixin private JsonOption json = new JsonOption();

    @Override
    public Integer call() throws IOException, InterruptedException {
        Path file = model.file();
        checkUsage();
        List<Setting> settings = options.settings(model.delegate());
        if (show) {
            return show(file);
        }
        Optional<Path> into = options.into();
        Optional<ShapeMix> mix = model.mix(model.graph());
        if (mix.isPresent() && into.isPresent()) {
            throw usage(
                    "--into is for jobs with delegation.profileFrom, which delegate no other shapes"
                            + " than those in the file: not with --input-shape");
        }
        List<DelegableModel> models = new ArrayList<>();
        for (Setting setting : settings) {
            models.add(model.open(setting.plan(), mix));
        }
        Output output = new Output(models.get(0).graph(), file);
        boolean measured = true;
        for (int i = 0; i < settings.size(); i++) {
            measured &= tune(models.get(i), settings.get(i).delegation(), into, output);
        }
        output.end();
        return measured ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    private void checkUsage() {
        if (explain && model.isTorchScript()) {
            throw usage(
                    "--explain is about operators, which a TorchScript model does not delegate: the"
                            + " table says why each rewrite is chosen or not");
        }
        if (show && model.hasShapes()) {
            throw usage("--show measures nothing: not with --input-shape");
        }
    }

    private ParameterException usage(String problem) {
        return new ParameterException(spec.commandLine(), problem);
    }

    private static String longest(DelegationOptions setting) {
        return setting.profileBudget()
                .map(budget -> "at most about %s s".formatted(budget.toMillis() / 1e3))
                .orElseGet(
                        () ->
                                "at most about %d s and as long as %d inferences take in the CPU kernels"
                                        .formatted(Request.BASE.toSeconds(), Request.INFERENCES));
    }

    /** Returns whether any candidate could be measured. */
    private boolean tune(
            DelegableModel measurable,
            DelegationOptions setting,
            Optional<Path> into,
            Output output)
            throws IOException, InterruptedException {
        PrintWriter err = spec.commandLine().getErr();
        err.println("measuring for " + longest(setting));
        Tuning tuning = tuning(measurable, setting);
        ProfileTable table =
                tuning.measure(TuneCommand::isMeasured)
                        .orElseThrow(
                                () ->
                                        new IllegalStateException(
                                                "another process has been measuring this model for"
                                                        + " long; try again when it has ended"));
        boolean measured = isMeasured(table);
        if (!measured) {
            complain("not kept: nothing could be measured");
        } else if (into.isPresent()) {
            tuning.copyTo(into.get(), table);
        }
        output.add(new Kept<>(tuning.key(), table), measured);
        LowerPrecisions.of(measurable, setting).forEach(output::add);
        return measured;
    }

    private Tuning tuning(DelegableModel measurable, DelegationOptions setting) {
        try {
            return Tuning.of(
                    measurable, setting, ProgressLine.ifWatched(spec.commandLine().getErr()));
        } catch (UnusableOptionException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    private static boolean isMeasured(ProfileTable table) {
        return table.entries().stream().anyMatch(Entry.Measured.class::isInstance);
    }

    private int show(Path file) throws IOException {
        List<Kept<ProfileTable>> all = ProfileStore.list(file, CacheFolder.get());
        if (all.isEmpty()) {
            complain("no measurement of " + file + " is stored");
            return ExitCode.SOFTWARE;
        }
        Output output = new Output(model.graph(), file);
        all.forEach(kept -> output.add(kept, true));
        output.end();
        return ExitCode.OK;
    }

    private void complain(String line) {
        int unused = Failure.complain(spec.commandLine().getErr(), List.of(line));
    }

    /** Prints tables as they become available, or one JSON object at the end. */
    private final class Output {

        private final PrintWriter out = spec.commandLine().getOut();
        private final Graph graph;
        private final JsonObject object = new JsonObject();
        private final JsonArray tables = new JsonArray();
        private final JsonObject lowerPrecisions = new JsonObject();
        private boolean first = true;

        Output(Graph graph, Path file) {
            this.graph = graph;
            object.addProperty("model", file.toString());
            object.addProperty("operators", graph.operators().size());
            object.add("tables", tables);
        }

        void add(Kept<ProfileTable> kept, boolean isKept) {
            if (json.isSet()) {
                tables.add(ProfileJson.of(graph, kept, isKept, explain));
                return;
            }
            out.print(first ? "" : "\n");
            out.print(ProfileText.of(graph, kept.key().facts(), kept.value()));
            if (isKept) {
                out.println(KeyFacts.loadsText(kept.key().facts()));
            }
            if (explain) {
                out.print(Explained.of(graph, kept.key().facts(), kept.value()).text());
            }
            out.flush();
            first = false;
        }

        /** Prints what a precision would bring that loads do not permit yet. */
        void add(String precision, String choice) {
            if (json.isSet()) {
                lowerPrecisions.addProperty(precision, choice);
                object.add("lowerPrecisions", lowerPrecisions);
            } else {
                out.println(LowerPrecisions.sentence(precision, choice));
                out.flush();
            }
        }

        void end() {
            json.print(() -> object, () -> "");
        }
    }
}
