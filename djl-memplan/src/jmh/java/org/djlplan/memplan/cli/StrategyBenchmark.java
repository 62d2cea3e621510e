package org.djlplan.memplan.cli;

import java.util.concurrent.TimeUnit;
import org.djlplan.memplan.usage.PlanningProblem;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Average time of every strategy on generated problems. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@State(Scope.Benchmark)
@Fork(1)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
public class StrategyBenchmark {

    /** Kind and number of units. */
    @Param({"network-100", "network-1000", "training-10000"})
    public String instance;

    /** Its value is given by {@link StrategyBenchmarks}: the strategies that admit the instance. */
    @Param({})
    public String strategy;

    private PlanningProblem problem;
    private BenchedStrategy planner;

    /** Makes the problem. */
    @Setup(Level.Trial)
    public void prepare() {
        problem = StrategyBenchmarks.problem(instance);
        planner = StrategyBenchmarks.strategy(strategy);
    }

    /** Plans. */
    @Benchmark
    public Object plan() {
        return planner.planner().apply(problem);
    }
}
