package org.djlplan.memplan.serving;

import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.runtime.tflite.InterpreterFactory;
import org.djlplan.memplan.runtime.tflite.InterpreterPool;
import org.djlplan.memplan.runtime.tflite.ModelInterpreter;
import org.djlplan.memplan.runtime.tflite.UnplannableException;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The candidates with which a model is currently served. A candidate whose delegate refuses an
 * interpreter is removed; without any candidate, everything runs in the CPU kernels.
 */
final class ServedCandidates implements InterpreterPool.Supply {

    private static final Logger logger = LoggerFactory.getLogger(ServedCandidates.class);

    private final String model;
    private final InterpreterFactory factory;
    private final AtomicReference<ThreadGovernor> governor;

    /**
     * @param graph the model
     * @param factory builds interpreters of any candidate
     * @param choice what serves to begin with; of a model that keeps state only the lightest
     *     candidate, as its state cannot move to another's interpreter
     */
    ServedCandidates(Graph graph, InterpreterFactory factory, DelegationChoice choice) {
        model = graph.name();
        this.factory = factory;
        governor =
                new AtomicReference<>(
                        new ThreadGovernor(
                                isStateful(graph) ? choice.only(choice.lightest()) : choice));
    }

    /** Returns whether a model keeps values from one prediction to the next. */
    static boolean isStateful(Graph graph) {
        return graph.tensors().stream().anyMatch(t -> t.storage() == Storage.VARIABLE);
    }

    /** Returns what decides which of the candidates a prediction runs with. */
    ThreadGovernor governor() {
        return governor.get();
    }

    /** Returns what serves now, and why. */
    DelegationChoice choice() {
        return governor().choice();
    }

    /** Goes over to another choice. */
    void choose(DelegationChoice better) {
        governor.set(new ThreadGovernor(better));
    }

    @Override
    public int candidates() {
        return 1 + choice().lighter().size();
    }

    /** Returns a candidate if it is one of the present choice, else the one of fewest threads. */
    @Override
    public Candidate serving(Candidate wanted) {
        DelegationChoice now = choice();
        return now.candidate().equals(wanted) || now.lighter().contains(wanted)
                ? wanted
                : now.lightest();
    }

    /**
     * Returns an interpreter for a candidate that serves, or did just now. If the delegate refuses,
     * another candidate of the choice is taken; if it is the one of the fewest threads, nothing is
     * delegated from now on. One warning says so.
     */
    @Override
    public ModelInterpreter build(List<List<Integer>> shapes, Candidate wanted)
            throws UnplannableException {
        while (true) {
            ThreadGovernor now = governor.get();
            Candidate candidate = serving(wanted);
            if (!candidate.delegates() || !shapes.equals(factory.shapesInFile())) {
                return factory.build(shapes, candidate, false);
            }
            try {
                return factory.build(shapes, candidate, false);
            } catch (UnplannableException | RuntimeException e) {
                String why = UnplannableException.reason(e);
                ThreadGovernor instead = new ThreadGovernor(without(now.choice(), candidate, why));
                // Not if another choice was made meanwhile, which is tried instead.
                if (governor.compareAndSet(now, instead)) {
                    logger.warn(
                            "{}: {} delegated with {} threads: {}",
                            model,
                            instead.choice().candidate().delegates() ? "not" : "nothing is",
                            candidate.threads(),
                            why);
                }
            }
        }
    }

    @Override
    public boolean reshapes(ModelInterpreter interpreter, List<List<Integer>> shapes) {
        return factory.reshapes(interpreter, shapes);
    }

    @Override
    public boolean hasSeen(List<List<Integer>> shapes) {
        return factory.hasSeen(shapes);
    }

    @Override
    public void reshape(ModelInterpreter interpreter, List<List<Integer>> shapes)
            throws UnplannableException {
        factory.reshape(interpreter, shapes);
    }

    private static DelegationChoice without(DelegationChoice choice, Candidate failed, String why) {
        List<Candidate> others =
                choice.candidates().stream().filter(other -> !other.equals(failed)).toList();
        return failed.equals(choice.lightest())
                ? new DelegationChoice(
                        Candidate.cpu(failed.threads()), choice.origin(), "it failed: " + why)
                : new DelegationChoice(
                        others.get(0),
                        others.subList(1, others.size()),
                        choice.origin(),
                        choice.reason(),
                        choice.outputs());
    }
}
