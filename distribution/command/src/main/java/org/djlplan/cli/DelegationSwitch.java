package org.djlplan.cli;

import java.util.Set;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The option that switches off delegation in commands; by default they delegate, as an application
 * does.
 */
final class DelegationSwitch {

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(
            names = "--no-delegation",
            description =
                    "Plan memory only; outputs are stock's bytes. (As in an application "
                            + "with delegation.enabled=false.)")
    private boolean off;

    /** Picocli creates the switch. */
    DelegationSwitch() {}

    /**
     * Returns whether delegation is on.
     *
     * @param options of the model
     * @throws ParameterException if they contradict this option
     */
    boolean delegates(RunOptions options) {
        if (off && options.mentionsDelegation()) {
            throw new ParameterException(
                    spec.commandLine(), "-o delegation.… has no effect: not with --no-delegation");
        }
        return !off && options.mayDelegate();
    }

    /** Returns the modes in which a command compares a model with stock. */
    Set<RunMode> modes(RunOptions options) {
        return delegates(options)
                ? ImmutableSet.of(RunMode.PLANNED, RunMode.DELEGATED)
                : ImmutableSet.of(RunMode.PLANNED);
    }
}
