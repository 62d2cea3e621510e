package org.djlplan.cli;

import ai.djl.util.Progress;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.djlplan.cli.TuneOptions.Setting;
import org.djlplan.delegation.internal.DelegationOptions;
import org.djlplan.delegation.internal.Tuning;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.choice.Request.Goal.Objective;
import org.djlplan.delegation.internal.partition.Units;
import org.djlplan.delegation.internal.store.ProfileStore;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.store.CacheFolder;
import org.djlplan.memplan.internal.store.Kept;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.ShapeMix;
import org.djlplan.memplan.spi.UnusableOptionException;
import org.djlplan.thirdparty.guava.collect.ContiguousSet;
import org.djlplan.thirdparty.guava.collect.Sets;
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
            names = "--exhaustive",
            description =
                    "Measure every union of partitions (of more than ten, those of the ten largest)"
                            + " equally often, for studies. The result is stored only if the objective"
                            + " is latency, all unions were measured, and the stored set is one of"
                            + " them: otherwise a usual run may be better, because it also splits"
                            + " partitions.")
    private boolean exhaustive;

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
                            + " line for consecutive operators with the same reason, unless --all is"
                            + " given. For a TorchScript model: why each rewrite is chosen or not.")
    private boolean explain;

    @Option(names = "--all", description = "With --explain: a line for each operator.")
    private boolean all;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        if (all && !explain) {
            throw new ParameterException(spec.commandLine(), "--all goes with --explain only");
        }
        Path file = model.file();
        if (model.isTorchScript() && exhaustive) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--exhaustive is about operators, which a TorchScript model does not delegate:"
                            + " all its rewrites are always measured");
        }
        List<Setting> settings = options.settings(model.delegate(), exhaustive);
        if (show) {
            return show(file);
        }
        Optional<Path> into = options.into();
        Optional<ShapeMix> mix = model.mix(model.graph());
        if (mix.isPresent() && into.isPresent()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--into is for jobs with delegation.profileFrom, which delegate no other shapes"
                            + " than those in the file: not with --input-shape");
        }
        List<DelegableModel> models = new ArrayList<>();
        for (Setting setting : settings) {
            models.add(model.open(setting.plan(), mix));
        }
        Output output = new Output(models.get(0).graph(), file);
        Optional<Boolean> measured =
                Cancellation.cancellable(
                        () -> tuneAll(models, settings, into, output),
                        () -> complain("cancelled; unfinished measurements are not stored"));
        if (measured.isPresent()) {
            output.end();
        }
        return measured.orElse(false) ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    private boolean tuneAll(
            List<DelegableModel> models, List<Setting> settings, Optional<Path> into, Output output)
            throws IOException, InterruptedException {
        boolean measured = true;
        for (int i = 0; i < settings.size(); i++) {
            measured &= tune(models.get(i), settings.get(i).delegation(), into, output);
        }
        return measured;
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
        err.flush();
        Tuning tuning = tuning(measurable, setting, ProgressLine.ifWatched(err));
        Optional<ProfileTable> kept = exhaustive ? tuning.kept() : Optional.empty();
        ProfileTable table =
                tuning.measure(found -> objection(output, setting, tuning, found, kept).isEmpty())
                        .orElseThrow(
                                () ->
                                        new IllegalStateException(
                                                "another process has been measuring this model for"
                                                        + " long; try again when it has ended"));
        Optional<String> objection = objection(output, setting, tuning, table, kept);
        objection.ifPresent(reason -> complain("not kept: " + reason));
        if (into.isPresent() && objection.isEmpty()) {
            tuning.copyTo(into.get(), table);
        }
        output.add(new Kept<>(tuning.key(), table), objection.isEmpty());
        LowerPrecisions.of(measurable, setting).forEach(output::add);
        return anyMeasured(table);
    }

    private Tuning tuning(
            DelegableModel measurable, DelegationOptions setting, Optional<Progress> progress)
            throws IOException {
        try {
            return Tuning.of(measurable, setting, exhaustive, progress);
        } catch (UnusableOptionException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    private static boolean anyMeasured(ProfileTable table) {
        return table.entries().stream().anyMatch(Entry.Measured.class::isInstance);
    }

    private Optional<String> objection(
            Output output,
            DelegationOptions setting,
            Tuning tuning,
            ProfileTable table,
            Optional<ProfileTable> kept) {
        if (!anyMeasured(table)) {
            return Optional.of("nothing could be measured");
        }
        return exhaustive
                ? ExhaustiveResult.objection(
                        output.graph, setting.goal(), tuning.threads(), table, kept)
                : Optional.empty();
    }

    private int show(Path file) throws IOException {
        if (exhaustive || model.hasShapes()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--show measures nothing: not with --exhaustive or --input-shape");
        }
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

    /** Why operators are delegated or not, or which rewrite is chosen. */
    private record Explanation(String text, JsonElement json) {}

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
            Optional<Explanation> explained =
                    explain ? Optional.of(explained(kept)) : Optional.empty();
            if (json) {
                JsonObject table = ProfileJson.of(graph, kept.key().facts(), kept.value(), isKept);
                Map<String, String> loads = KeyFacts.loads(kept.key().facts());
                table.add("loads", Json.tree(isKept ? loads : null));
                explained.ifPresent(it -> table.add("explanation", it.json()));
                tables.add(table);
            } else {
                out.print(first ? "" : "\n");
                out.print(ProfileText.of(graph, kept.key().facts(), kept.value()));
                if (isKept) {
                    out.println(KeyFacts.loadsText(kept.key().facts()));
                }
                explained.ifPresent(it -> out.print(it.text()));
                out.flush();
            }
            first = false;
        }

        /** Prints what a precision would bring that loads do not permit yet. */
        void add(String precision, String choice) {
            if (json) {
                lowerPrecisions.addProperty(precision, choice);
                object.add("lowerPrecisions", lowerPrecisions);
            } else {
                out.println(LowerPrecisions.sentence(precision, choice));
                out.flush();
            }
        }

        private Explanation explained(Kept<ProfileTable> kept) {
            if (graph.operators().isEmpty()) {
                ExplainedRecipes recipes = ExplainedRecipes.of(kept.value());
                return new Explanation(recipes.table().text(), recipes.json());
            }
            Explained operators = Explained.of(graph, kept.key().facts(), kept.value());
            return new Explanation(
                    operators.summary() + "\n" + operators.table(all).text(), operators.json());
        }

        void end() {
            if (json) {
                out.println(object);
            }
            out.flush();
        }
    }

    /**
     * Decides whether loads may use the result of an exhaustive run. An exhaustive run measures
     * only unions of whole partitions. A usual run also splits partitions: all of them if memory
     * counts, otherwise those that are hardly faster in the delegate. So an exhaustive run may miss
     * a better set.
     */
    static final class ExhaustiveResult {

        /** With more partitions, not all unions are measured. */
        static final int MOST_PARTITIONS = 10;

        private ExhaustiveResult() {}

        /**
         * Returns the reason why a table must not be stored; empty if it may be.
         *
         * @param threads the settings that were to be measured
         * @param kept the table that loads have used so far
         */
        static Optional<String> objection(
                Graph graph,
                Goal goal,
                List<Integer> threads,
                ProfileTable table,
                Optional<ProfileTable> kept) {
            if (goal.objective() != Objective.LATENCY || goal.maxMemoryBytes().isPresent()) {
                return Optional.of(
                        "where memory counts, parts of partitions are to be measured, too");
            }
            Units units = Units.of(graph, table.partitions());
            int partitions = units.all().size();
            if (partitions > MOST_PARTITIONS) {
                return Optional.of(
                        "not all unions of %d partitions were measured".formatted(partitions));
            }
            Set<Candidate> tried =
                    table.entries().stream().map(Entry::candidate).collect(Collectors.toSet());
            long sets = (1L << partitions) * threads.size();
            long measured =
                    Sets.powerSet(ContiguousSet.closedOpen(0, partitions)).stream()
                            .flatMap(
                                    union ->
                                            threads.stream()
                                                    .map(
                                                            n ->
                                                                    new Candidate(
                                                                            units.operators(union),
                                                                            n)))
                            .filter(tried::contains)
                            .count();
            if (measured < sets) {
                return Optional.of(
                        "%d of %d sets were measured within the budget".formatted(measured, sets));
            }
            return kept.map(ProfileTable::chosen)
                    .filter(chosen -> !tried.contains(chosen))
                    .map(chosen -> "the set that was measured before has parts of partitions");
        }
    }
}
