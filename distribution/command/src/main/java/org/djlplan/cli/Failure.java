package org.djlplan.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.regex.Pattern;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.source.tflite.TfLiteFormatException;
import org.djlplan.thirdparty.guava.base.Throwables;
import picocli.CommandLine.ExitCode;

/** Signals that a command cannot continue, for a reason that its one-line message explains. */
sealed class Failure extends RuntimeException {

    /** Signals that a process was killed because no memory was left. */
    static final class OutOfMemory extends Failure {

        private static final long serialVersionUID = 1L;

        OutOfMemory(String message) {
            super(message);
        }
    }

    /** Signals that a model cannot run in its budget. */
    static final class TooSmall extends Failure {

        private static final long serialVersionUID = 1L;

        private final long leastBytes;

        /**
         * @param leastBytes the smallest possible budget
         */
        TooSmall(String message, long leastBytes) {
            super(message);
            this.leastBytes = leastBytes;
        }

        long leastBytes() {
            return leastBytes;
        }
    }

    private static final long serialVersionUID = 1L;
    private static final Pattern BREAKS = Pattern.compile("\\s*\\R\\s*");

    Failure(String message) {
        super(message);
    }

    Failure(String message, Throwable cause) {
        super(message + ": " + describe(cause), cause);
    }

    /** Returns the failure to load a model. */
    static Failure toLoad(Throwable thrown) {
        return Throwables.getCausalChain(thrown).stream()
                .filter(BudgetTooSmallException.class::isInstance)
                .map(BudgetTooSmallException.class::cast)
                .findFirst()
                .<Failure>map(e -> new TooSmall(oneLine(e.getMessage()), e.leastBytes()))
                .orElseGet(() -> new Failure("cannot load the model", thrown));
    }

    /** Prints failed checks; returns the exit code of the command. */
    static int complain(PrintWriter err, List<String> failed) {
        failed.forEach(line -> err.println("djlplan: " + line));
        err.flush();
        return failed.isEmpty() ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    /**
     * Returns an error description in one line: the innermost message, because it is the most
     * precise.
     */
    static String describe(Throwable thrown) {
        if (thrown instanceof Failure && thrown.getMessage() != null) {
            return oneLine(thrown.getMessage());
        }
        String text = "";
        for (Throwable t : Throwables.getCausalChain(thrown)) {
            if (t.getMessage() != null && !t.getMessage().isBlank()) {
                text = isSelfExplaining(t) ? t.getMessage() : name(t) + ": " + t.getMessage();
            }
        }
        return text.isEmpty() ? name(Throwables.getRootCause(thrown)) : oneLine(text);
    }

    /**
     * Returns {@code text} with its line breaks and other control characters replaced by spaces.
     */
    static String oneLine(String text) {
        return TextTable.plain(BREAKS.matcher(text.strip()).replaceAll(" "));
    }

    private static boolean isSelfExplaining(Throwable thrown) {
        return thrown instanceof Failure
                || thrown instanceof UnplannableException
                || thrown instanceof TfLiteFormatException
                || thrown instanceof IllegalArgumentException
                || thrown instanceof IllegalStateException;
    }

    private static String name(Throwable thrown) {
        return thrown.getClass().getSimpleName();
    }
}
