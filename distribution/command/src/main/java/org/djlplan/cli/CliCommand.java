package org.djlplan.cli;

import java.util.concurrent.Callable;

/**
 * A command that another module adds to {@code djlplan}.
 *
 * <p>An implementation is a class with picocli's {@code @Command} annotation and a public
 * constructor without parameters, listed in {@code META-INF/services/org.djlplan.cli.CliCommand}.
 * {@link #call()} returns the exit code: 0 when all is well, 1 when the command failed or a check
 * did not hold, 2 for wrong usage. It may throw picocli's {@code ParameterException} for wrong
 * usage; any other exception is printed as one line and makes the exit code 1. Results go to {@code
 * spec.commandLine().getOut()}, and as one JSON object when {@code --json} is given.
 */
public interface CliCommand extends Callable<Integer> {}
