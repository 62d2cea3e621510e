package org.djlplan.cli;

import java.time.Duration;
import java.util.OptionalInt;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Options for the number of threads and predictions and the seconds of warm-up of a run. */
final class RunEffort {

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    private OptionalInt threads = OptionalInt.empty();
    private int iterations = 50;
    private int warmup = 5;
    private int timeoutSeconds = 600;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "Seed of the random inputs (default: ${DEFAULT-VALUE}).")
    private long seed;

    @Option(
            names = "--threads",
            paramLabel = "N",
            description = "Threads of the engine (default: the engine's own choice).")
    void setThreads(int threads) {
        this.threads = OptionalInt.of(atLeast(1, threads, "--threads"));
    }

    @Option(
            names = "--iterations",
            paramLabel = "N",
            defaultValue = "50",
            description = "Timed predictions (default: ${DEFAULT-VALUE}).")
    void setIterations(int iterations) {
        this.iterations = atLeast(1, iterations, "--iterations");
    }

    @Option(
            names = "--warmup",
            paramLabel = "N",
            defaultValue = "5",
            description = "Predictions before the timed ones (default: ${DEFAULT-VALUE}).")
    void setWarmup(int warmup) {
        this.warmup = atLeast(0, warmup, "--warmup");
    }

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "600",
            description = "Longest time for one step of a run (default: ${DEFAULT-VALUE}).")
    void setTimeoutSeconds(int timeoutSeconds) {
        this.timeoutSeconds = atLeast(1, timeoutSeconds, "--timeout");
    }

    /** Returns this effort, with {@code otherwise} threads if none were given. */
    RunEffort orThreads(int otherwise) {
        RunEffort effort = new RunEffort();
        effort.spec = spec;
        effort.threads = threads.isPresent() ? threads : OptionalInt.of(otherwise);
        effort.iterations = iterations;
        effort.warmup = warmup;
        effort.timeoutSeconds = timeoutSeconds;
        effort.seed = seed;
        return effort;
    }

    /** Returns this effort with another number of timed predictions. */
    RunEffort withIterations(int number) {
        RunEffort effort = new RunEffort();
        effort.spec = spec;
        effort.threads = threads;
        effort.warmup = warmup;
        effort.timeoutSeconds = timeoutSeconds;
        effort.seed = seed;
        effort.setIterations(number);
        return effort;
    }

    OptionalInt threads() {
        return threads;
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
        threads.ifPresent(n -> line.add("--threads", Integer.toString(n)));
        return line.add("--iterations", Integer.toString(iterations))
                .add("--warmup", Integer.toString(warmup))
                .add("--timeout", Integer.toString(timeoutSeconds))
                .add("--seed", Long.toString(seed))
                .build();
    }

    private int atLeast(int least, int value, String option) {
        if (value < least) {
            throw new ParameterException(
                    spec.commandLine(), option + " must be at least " + least + ", not " + value);
        }
        return value;
    }
}
