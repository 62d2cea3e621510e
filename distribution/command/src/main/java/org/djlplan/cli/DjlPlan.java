package org.djlplan.cli;

import ai.djl.engine.Engine;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.util.Properties;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The {@code djlplan} command. Exit codes: 0 success, 1 a command failed or outputs are outside the
 * tolerance, 2 wrong usage. Errors are one line on the error stream.
 */
@Command(
        name = "djlplan",
        description = "Memory and delegation planning for models in Deep Java Library.",
        mixinStandardHelpOptions = true,
        versionProvider = DjlPlan.VersionProvider.class,
        scope = ScopeType.INHERIT,
        synopsisSubcommandLabel = "COMMAND",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all is well",
            "1:the command failed, or outputs are outside the tolerance",
            "2:wrong usage"
        },
        subcommands = {
            PlanCommand.class,
            ValidateCommand.class,
            RunCommand.class,
            CompareCommand.class,
            BudgetCommand.class,
            SizeCommand.class,
            BenchPlannerCommand.class,
            ReportCommand.class,
            DemoCommand.class,
            TuneCommand.class,
            WorkerCommand.class
        })
public final class DjlPlan implements Callable<Integer> {

    @Spec private CommandSpec spec;

    @Option(
            names = "--stack-trace",
            scope = ScopeType.INHERIT,
            description = "Print the stack trace of an error, too.")
    private boolean stackTrace;

    private DjlPlan() {}

    /** Runs the command that {@code args} name and exits the JVM with its exit code. */
    public static void main(String[] args) {
        System.exit(execute(args));
    }

    /** If the output cannot be written, for example because the disk is full, the command fails. */
    private static int execute(String[] args) {
        int code = commandLine().execute(args);
        if (!System.out.checkError() || code != CommandLine.ExitCode.OK) {
            return code;
        }
        System.err.println("djlplan: the output cannot be written");
        return CommandLine.ExitCode.SOFTWARE;
    }

    /** Returns the complete command. */
    public static CommandLine commandLine() {
        DjlPlan top = new DjlPlan();
        return Parsed.register(new CommandLine(top))
                .setParameterExceptionHandler(DjlPlan::explainUsage)
                .setExecutionExceptionHandler(
                        (e, command, parsed) -> explainFailure(e, command, top.stackTrace));
    }

    @Override
    public Integer call() {
        spec.commandLine().usage(spec.commandLine().getErr());
        return CommandLine.ExitCode.USAGE;
    }

    private static int explainUsage(ParameterException e, String[] args) {
        CommandLine command = e.getCommandLine();
        // Picocli prints "option option" if a value has the wrong form.
        String message = Failure.oneLine(e.getMessage()).replace("option option", "option");
        StringBuilder line = new StringBuilder("djlplan: ").append(message);
        if (e instanceof UnmatchedArgumentException unmatched
                && !unmatched.getSuggestions().isEmpty()) {
            line.append("; did you mean ").append(unmatched.getSuggestions().get(0)).append('?');
        }
        line.append(" (see '").append(command.getCommandSpec().qualifiedName()).append(" --help')");
        command.getErr().println(line);
        return CommandLine.ExitCode.USAGE;
    }

    private static int explainFailure(Exception e, CommandLine command, boolean stackTrace) {
        PrintWriter err = command.getErr();
        err.println("djlplan: " + Failure.describe(e));
        if (stackTrace) {
            e.printStackTrace(err);
        }
        return CommandLine.ExitCode.SOFTWARE;
    }

    /** The version of this project from its jar, and the versions of DJL and Java. */
    static final class VersionProvider implements IVersionProvider {

        private static final String POM = "/META-INF/maven/org.djlplan/djl-memplan/pom.properties";

        /** Returns this project's version. */
        static String ofProject() throws IOException {
            Properties pom = new Properties();
            try (InputStream in = VersionProvider.class.getResourceAsStream(POM)) {
                if (in != null) {
                    pom.load(in);
                }
            }
            return pom.getProperty("version", "(built from classes)");
        }

        @Override
        public String[] getVersion() throws IOException {
            return new String[] {
                "djlplan " + ofProject(),
                "DJL " + Engine.getDjlVersion() + ", Java " + System.getProperty("java.version")
            };
        }
    }
}
