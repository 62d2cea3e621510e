package org.djlplan.delegation.internal.profile;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.Predicate;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.djlplan.memplan.spi.OutputError;

/**
 * Runs candidates of a {@link Truth} on a simulated machine. Times are log-normal around the true
 * ones; the machine's speed drifts by a few percent; and one inference in fifty is disturbed and
 * takes several times as long. The simulated time advances only in this class.
 */
final class SimulatedRunner implements CandidateRunner {

    /** One to warm up, and three whose outputs are compared. */
    static final int INFERENCES_TO_PREPARE = 4;

    private static final double DISTURBED = 0.02;

    private final Truth truth;
    private final double noise;
    private final Random random;
    private final Map<Integer, CandidateException.Kind> failing = new HashMap<>();
    private final Map<Integer, OutputError> wrong = new HashMap<>();
    private final Set<Candidate> prepared = new HashSet<>();
    private final Set<Candidate> everPrepared = new HashSet<>();
    private final Set<Candidate> crashing = new HashSet<>();
    private final Map<Candidate, Integer> timed = new HashMap<>();
    private Predicate<Candidate> disturbed = candidate -> false;
    private int disturbedFrom;
    private int disturbedUntil;
    private Optional<CandidateException.Kind> cpuFailure = Optional.empty();
    private int interruptedAfter = Integer.MAX_VALUE;
    private double drift;
    private long nowNanos;
    private int inferences;

    /**
     * @param noise standard deviation of the logarithm of an inference's time
     */
    SimulatedRunner(Truth truth, double noise, long seed) {
        this.truth = truth;
        this.noise = noise;
        this.random = new Random(seed);
    }

    /** Makes all candidates that delegate an operator fail. */
    SimulatedRunner failing(int operator, CandidateException.Kind kind) {
        failing.put(operator, kind);
        return this;
    }

    /** Makes the outputs of all candidates that delegate an operator wrong. */
    SimulatedRunner wrong(int operator, ElementType type, double difference) {
        wrong.put(operator, new OutputError(type, difference));
        return this;
    }

    /** Does the same, and the comparison names the operator. */
    SimulatedRunner wrongAndNamed(int operator) {
        OutputError error = new OutputError(ElementType.INT8, 9);
        wrong.put(operator, error.withOperators(new OutputError.ByOperator(operator, 9)));
        return this;
    }

    /** Makes a candidate crash when it is timed. */
    SimulatedRunner crashingWhenTimed(Candidate candidate) {
        crashing.add(candidate);
        return this;
    }

    /** Makes candidates take six times as long in some of their turns, counted from 0. */
    SimulatedRunner disturbedInTurns(Predicate<Candidate> which, int from, int until) {
        disturbed = which;
        disturbedFrom = from;
        disturbedUntil = until;
        return this;
    }

    /** Makes the model fail without the delegate. */
    SimulatedRunner failingOnTheCpu(CandidateException.Kind kind) {
        cpuFailure = Optional.of(kind);
        return this;
    }

    /** Interrupts the thread after some inferences. */
    SimulatedRunner interruptedAfter(int count) {
        interruptedAfter = count;
        return this;
    }

    Graph graph() {
        return truth.graph();
    }

    @Override
    public List<Set<Integer>> partitions() {
        return new ArrayList<>(truth.partitions());
    }

    @Override
    public Trial prepare(Candidate candidate) throws CandidateException, InterruptedException {
        for (int operator : candidate.operators()) {
            if (failing.containsKey(operator)) {
                throw new CandidateException(failing.get(operator), "operator " + operator);
            }
        }
        if (cpuFailure.isPresent() && !candidate.delegates()) {
            throw new CandidateException(cpuFailure.get(), "no CPU");
        }
        prepared.add(candidate);
        everPrepared.add(candidate);
        List<OutputError> errors = new ArrayList<>();
        errors.add(new OutputError(ElementType.FLOAT32, candidate.delegates() ? 1e-6 : 0));
        candidate.operators().stream()
                .filter(wrong::containsKey)
                .forEach(operator -> errors.add(wrong.get(operator)));
        for (int i = 0; i < INFERENCES_TO_PREPARE; i++) {
            inference(candidate);
        }
        return new Trial(
                truth.kernels(candidate), errors, truth.bytes(candidate), INFERENCES_TO_PREPARE);
    }

    @Override
    public long[] time(Candidate candidate, int count)
            throws CandidateException, InterruptedException {
        if (crashing.contains(candidate)) {
            throw new CandidateException(CandidateException.Kind.CRASHED, "crashed late");
        }
        inference(candidate);
        long[] nanos = new long[count];
        int turn = timed.merge(candidate, 1, Integer::sum) - 1;
        boolean slow = disturbed.test(candidate) && turn >= disturbedFrom && turn < disturbedUntil;
        for (int i = 0; i < count; i++) {
            nanos[i] = inference(candidate) * (slow ? 6 : 1);
        }
        return nanos;
    }

    @Override
    public List<NodeTime> profile(Candidate candidate, int count) throws InterruptedException {
        for (int i = 0; i <= count; i++) {
            inference(candidate);
        }
        // The median of several runs is less noisy than one run.
        double scale = noise / Math.sqrt(count);
        return truth.nodes(candidate).stream().map(node -> noisy(node, scale)).toList();
    }

    private NodeTime noisy(NodeTime node, double scale) {
        double nanos = node.nanos() * Math.exp(drift + scale * random.nextGaussian());
        return new NodeTime(node.operators(), node.delegated(), Math.round(nanos));
    }

    @Override
    public void release(Candidate candidate) {
        prepared.remove(candidate);
    }

    @Override
    public void close() {
        prepared.clear();
    }

    private long inference(Candidate candidate) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (!prepared.contains(candidate)) {
            throw new IllegalStateException(candidate + " is not prepared");
        }
        drift = 0.98 * drift + 0.01 * random.nextGaussian();
        double factor = Math.exp(drift + noise * random.nextGaussian());
        if (random.nextDouble() < DISTURBED) {
            factor *= 1 - 0.5 * Math.log(1 - random.nextDouble());
        }
        long nanos = Math.round(truth.nanos(candidate) * factor);
        nowNanos += nanos;
        inferences++;
        if (inferences == interruptedAfter) {
            Thread.currentThread().interrupt();
        }
        return nanos;
    }

    /** Returns the simulated clock. */
    long nowNanos() {
        return nowNanos;
    }

    /** Returns how many inferences were run. */
    int inferences() {
        return inferences;
    }

    /** Returns all candidates that ever ran. */
    Set<Candidate> everPrepared() {
        return everPrepared;
    }
}
