package org.djlplan.memplan.cli;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.djlplan.memplan.usage.PlanningProblem;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatFactory;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * Runs {@link StrategyBenchmark} for every strategy and each instance that it admits. Arguments are
 * JMH's own; {@code -p instance=…} and {@code -p strategy=…} choose.
 */
public final class StrategyBenchmarks {

    private static final List<String> INSTANCES =
            List.of("network-100", "network-1000", "training-10000");

    private StrategyBenchmarks() {}

    /** Runs all that is asked for, then prints one table. */
    public static void main(String[] args) throws RunnerException, CommandLineOptionException {
        CommandLineOptions given = new CommandLineOptions(args);
        Collection<String> asked = given.getParameter("instance").orElse(INSTANCES);
        Collection<RunResult> results = new ArrayList<>();
        for (String instance : asked) {
            results.addAll(new Runner(options(given, instance)).run());
        }
        ResultFormatFactory.getInstance(ResultFormatType.TEXT, System.out).writeOut(results);
    }

    private static Options options(CommandLineOptions given, String instance) {
        PlanningProblem problem = problem(instance);
        String[] admitting =
                BenchedStrategy.all().stream()
                        .filter(strategy -> strategy.admits().test(problem))
                        .map(BenchedStrategy::name)
                        .filter(
                                name ->
                                        !given.getParameter("strategy").hasValue()
                                                || given.getParameter("strategy")
                                                        .get()
                                                        .contains(name))
                        .toArray(String[]::new);
        return new OptionsBuilder()
                .parent(given)
                .include(StrategyBenchmark.class.getSimpleName())
                .param("instance", instance)
                .param("strategy", admitting)
                .build();
    }

    static PlanningProblem problem(String instance) {
        List<String> parts = Arrays.asList(instance.split("-", 2));
        return Arrays.stream(GeneratedProblems.values())
                .filter(kind -> kind.label().equals(parts.get(0)))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no instance " + instance))
                .problem(Integer.parseInt(parts.get(1)), GeneratedProblems.SEED);
    }

    static BenchedStrategy strategy(String name) {
        return BenchedStrategy.all().stream()
                .filter(strategy -> strategy.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no strategy " + name));
    }
}
