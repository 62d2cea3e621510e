package org.djlplan.delegation.cli;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;
import java.util.List;
import java.util.Map;
import org.djlplan.delegation.DelegationKey;
import org.djlplan.delegation.DelegationOptions;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What to find and how long to look for it. */
final class TuneOptions {

    private static final Map<String, String> NAMES =
            ImmutableMap.of(
                    DelegationKey.OBJECTIVE.key(), "--objective",
                    DelegationKey.MAX_MEMORY.key(), "--max-memory",
                    DelegationKey.THREADS.key(), "--threads",
                    DelegationKey.PROFILE_BUDGET.key(), "--budget",
                    DelegationKey.TOLERANCE.key(), "--tolerance");

    private static final String USUAL_BUDGET = "auto";
    private static final String EXHAUSTIVE_BUDGET = "10m";

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(
            names = "--objective",
            paramLabel = "NAME",
            defaultValue = "latency",
            description =
                    "What to make small: latency, memory, or balanced, the product of both (default:"
                            + " ${DEFAULT-VALUE}).")
    private String objective;

    @Option(
            names = "--max-memory",
            paramLabel = "SIZE",
            description = "What the model may take at most, such as 64MB.")
    private String maxMemory;

    @Option(
            names = "--threads",
            paramLabel = "N",
            split = ",",
            defaultValue = "-1",
            description =
                    "Threads per prediction, or auto to choose them as well; several, such as 1,2,"
                            + " are measured and kept one after the other (default: the engine's"
                            + " own, as for a model that is loaded without options).")
    private List<String> threads;

    @Option(
            names = "--budget",
            paramLabel = "TIME",
            description =
                    "How long to measure (default: "
                            + USUAL_BUDGET
                            + "; "
                            + EXHAUSTIVE_BUDGET
                            + " with --exhaustive).")
    private String budget;

    @Option(
            names = "--tolerance",
            paramLabel = "X",
            defaultValue = "auto",
            description =
                    "Largest relative error of floating-point outputs against the CPU kernels'; a"
                            + " set beyond it is not used (default: ${DEFAULT-VALUE}).")
    private String tolerance;

    /** For picocli. */
    TuneOptions() {}

    /**
     * Returns the options of each setting of threads, as a load of the model reads them.
     *
     * @throws ParameterException if a value is wrong
     */
    List<DelegationOptions> settings(String delegate, boolean exhaustive) {
        return ImmutableSet.copyOf(threads).stream()
                .map(setting -> parse(texts(delegate, setting, exhaustive)))
                .toList();
    }

    private Map<String, String> texts(String delegate, String setting, boolean exhaustive) {
        ImmutableMap.Builder<String, String> texts = ImmutableMap.builder();
        texts.put(DelegationKey.DELEGATE.key(), delegate);
        texts.put(DelegationKey.OBJECTIVE.key(), objective);
        if (maxMemory != null) {
            texts.put(DelegationKey.MAX_MEMORY.key(), maxMemory);
        }
        texts.put(DelegationKey.THREADS.key(), setting);
        String usual = exhaustive ? EXHAUSTIVE_BUDGET : USUAL_BUDGET;
        texts.put(DelegationKey.PROFILE_BUDGET.key(), budget == null ? usual : budget);
        texts.put(DelegationKey.TOLERANCE.key(), tolerance);
        return texts.buildOrThrow();
    }

    private DelegationOptions parse(Map<String, String> texts) {
        try {
            return DelegationOptions.parse(texts);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), asTyped(e.getMessage()), e);
        }
    }

    /** The parser names keys; a user of the command has given options. */
    private static String asTyped(String message) {
        String text = message;
        for (Map.Entry<String, String> name : NAMES.entrySet()) {
            text = text.replace(name.getKey() + "=", name.getValue() + " ");
        }
        return text;
    }
}
