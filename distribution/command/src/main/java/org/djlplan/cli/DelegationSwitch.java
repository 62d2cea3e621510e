package org.djlplan.cli;

import java.io.PrintWriter;
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

    /** For picocli. */
    DelegationSwitch() {}

    boolean isOff() {
        return off;
    }

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
        return isWanted(options) && PlannedLoading.knowsDelegation();
    }

    /** Prints a line if nothing is delegated because djl-delegation is absent. */
    void warnIfAbsent(RunOptions options) {
        if (isWanted(options) && !PlannedLoading.knowsDelegation()) {
            PrintWriter err = spec.commandLine().getErr();
            err.println("djl-delegation is not on the class path: nothing is delegated");
            err.flush();
        }
    }

    private boolean isWanted(RunOptions options) {
        return !off && options.mayDelegate();
    }
}
