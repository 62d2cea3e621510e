package org.djlplan.cli;

import java.time.Duration;
import java.util.OptionalInt;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import picocli.CommandLine.Option;

/** Options for the number of threads and predictions and the seconds of warm-up of a run. */
final class RunEffort {

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "Seed of the random inputs (default: ${DEFAULT-VALUE}).")
    private long seed;

    @Option(
            names = "--threads",
            paramLabel = "N",
            converter = Parsed.Positive.class,
            description = "Threads of the engine (default: the engine's own choice).")
    private Integer threads;

    @Option(
            names = "--iterations",
            paramLabel = "N",
            defaultValue = "50",
            converter = Parsed.Positive.class,
            description = "Timed predictions (default: ${DEFAULT-VALUE}).")
    private int iterations = 50;

    @Option(
            names = "--warmup",
            paramLabel = "N",
            defaultValue = "5",
            converter = Parsed.NotNegative.class,
            description = "Predictions before the timed ones (default: ${DEFAULT-VALUE}).")
    private int warmup = 5;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "600",
            converter = Parsed.Positive.class,
            description = "Longest time for one step of a run (default: ${DEFAULT-VALUE}).")
    private int timeoutSeconds = 600;

    /** Returns this effort, with {@code otherwise} threads if none were given. */
    RunEffort orThreads(int otherwise) {
        RunEffort effort = copy();
        effort.threads = threads == null ? otherwise : threads;
        return effort;
    }

    /** Returns this effort with another number of timed predictions. */
    RunEffort withIterations(int number) {
        RunEffort effort = copy();
        effort.iterations = number;
        return effort;
    }

    private RunEffort copy() {
        RunEffort effort = new RunEffort();
        effort.seed = seed;
        effort.threads = threads;
        effort.iterations = iterations;
        effort.warmup = warmup;
        effort.timeoutSeconds = timeoutSeconds;
        return effort;
    }

    OptionalInt threads() {
        return threads == null ? OptionalInt.empty() : OptionalInt.of(threads);
    }

    int iterations() {
        return iterations;
    }

    int warmup() {
        return warmup;
    }

    long seed() {
        return seed;
    }

    Duration timeout() {
        return Duration.ofSeconds(timeoutSeconds);
    }

    /** Returns the command line that passes the same effort to another process. */
    ImmutableList<String> toArguments() {
        ImmutableList.Builder<String> line = ImmutableList.builder();
        threads().ifPresent(n -> line.add("--threads", Integer.toString(n)));
        return line.add("--iterations", Integer.toString(iterations))
                .add("--warmup", Integer.toString(warmup))
                .add("--timeout", Integer.toString(timeoutSeconds))
                .add("--seed", Long.toString(seed))
                .build();
    }
}
