package org.djlplan.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.delegation.internal.DelegationKey;
import org.djlplan.delegation.internal.DelegationOptions;
import org.djlplan.memplan.internal.config.OptionKey;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.config.Quantities;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Options for the objective and the limits of a search. */
final class TuneOptions {

    private static final String BLOCKING = "blocking:";

    private static final String USUAL_BUDGET = "auto";

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(
            names = "-o",
            paramLabel = "KEY=VALUE",
            description =
                    "An option with which the model will be loaded, such as "
                            + "memplan.threads=2; loads with the same options use the result.")
    private Map<String, String> arguments = new LinkedHashMap<>();

    @Option(
            names = "--objective",
            paramLabel = "NAME",
            description =
                    "The figure to minimize: latency, memory, or balanced, the product of "
                            + "both (default: latency).")
    private String objective;

    @Option(
            names = "--max-memory",
            paramLabel = "SIZE",
            description = "Memory limit of the model, such as 64MB.")
    private String maxMemory;

    @Option(
            names = "--threads",
            paramLabel = "N",
            split = ",",
            description =
                    "Threads per prediction, or auto to choose the number as well; several "
                            + "numbers, such as 1,2, are measured and stored one after another "
                            + "(default: the number that the -o options set, otherwise auto).")
    private List<String> threads = new ArrayList<>();

    @Option(
            names = "--budget",
            paramLabel = "TIME",
            description = "How long to measure (default: " + USUAL_BUDGET + ").")
    private String budget;

    @Option(
            names = "--tolerance",
            paramLabel = "X",
            description =
                    "Largest accepted relative error of floating-point outputs, compared with the"
                            + " CPU kernels' (default: auto, as much as roundings can change the"
                            + " outputs of this model).")
    private String tolerance;

    @Option(
            names = "--into",
            paramLabel = "FOLDER",
            description =
                    "Also store the result in this folder, for delegation.profileFrom; a "
                            + "result for the same hardware and options is replaced.")
    private Path into;

    /** For picocli. */
    TuneOptions() {}

    /**
     * The options of a load.
     *
     * @param plan all options
     * @param delegation the delegation options among them
     */
    record Setting(PlanOptions plan, DelegationOptions delegation) {}

    /**
     * Returns the options for each number of threads, as a load of the model reads them.
     *
     * @param delegate value of {@code --delegate}
     * @throws ParameterException if a value is wrong, or an option is given twice
     */
    List<Setting> settings(Optional<String> delegate) {
        List<Optional<String>> eachThreads =
                threads.isEmpty()
                        ? ImmutableList.of(Optional.empty())
                        : ImmutableSet.copyOf(threads).stream().map(Optional::of).toList();
        return eachThreads.stream().map(setting -> setting(delegate, setting)).toList();
    }

    private Setting setting(Optional<String> delegate, Optional<String> threadSetting) {
        Map<String, String> texts = new LinkedHashMap<>(arguments);
        put(texts, DelegationKey.DELEGATE, delegate);
        put(texts, DelegationKey.OBJECTIVE, Optional.ofNullable(objective));
        put(texts, DelegationKey.MAX_MEMORY, Optional.ofNullable(maxMemory));
        put(texts, OptionKey.THREADS, threadSetting);
        put(texts, DelegationKey.PROFILE, longest());
        put(texts, DelegationKey.TOLERANCE, Optional.ofNullable(tolerance));
        Setting setting = parse(texts);
        if (!setting.plan().enabled() || !setting.delegation().enabled()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "a load with these -o delegates nothing: there is nothing to measure");
        }
        return setting;
    }

    /**
     * Returns the additional folder for the result; creates it if it is missing.
     *
     * @throws ParameterException if it cannot be created
     */
    Optional<Path> into() {
        if (into == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(Files.createDirectories(into));
        } catch (IOException e) {
            throw new ParameterException(spec.commandLine(), "--into " + into + ": " + e, e);
        }
    }

    private Optional<String> longest() {
        if (budget == null || budget.equals(USUAL_BUDGET)) {
            return Optional.empty();
        }
        if (Quantities.duration(budget, DelegationOptions.LONGEST_BUDGET).isEmpty()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--budget %s: must be auto or a duration of at most 24h, such as 10s, 500ms or 2m"
                            .formatted(budget));
        }
        return Optional.of(BLOCKING + budget);
    }

    private void put(
            Map<String, String> texts, org.djlplan.memplan.spi.Option key, Optional<String> typed) {
        if (typed.isPresent() && texts.containsKey(key.key())) {
            throw new ParameterException(
                    spec.commandLine(),
                    "-o %s is given, and the option of this command that says the same: give one of them"
                            .formatted(key.key()));
        }
        typed.ifPresent(value -> texts.put(key.key(), value));
    }

    private Setting parse(Map<String, String> texts) {
        try {
            PlanOptions plan = PlannedLoading.parse(texts);
            return new Setting(plan, DelegationOptions.parse(plan.delegation()));
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }
}
