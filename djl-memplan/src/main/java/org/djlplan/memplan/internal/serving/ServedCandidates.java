package org.djlplan.memplan.internal.serving;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.djlplan.memplan.internal.runtime.tflite.InterpreterFactory;
import org.djlplan.memplan.internal.runtime.tflite.InterpreterPool;
import org.djlplan.memplan.internal.runtime.tflite.ModelInterpreter;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The candidates with which a model is currently served. If a candidate's delegate cannot be added
 * to an interpreter, the candidate is removed. When no candidate is left, everything runs in the
 * CPU kernels.
 */
final class ServedCandidates implements InterpreterPool.Supply {

    private static final Logger logger = LoggerFactory.getLogger(ServedCandidates.class);

    private final String model;
    private final InterpreterFactory factory;
    private final OtherShapes otherShapes;
    private final AtomicReference<ThreadGovernor> governor;

    /**
     * @param model its name
     * @param keepsState whether it keeps values from one prediction to the next
     * @param factory builds interpreters of any candidate
     * @param choice the first choice; of a model that keeps state only the lightest candidate
     *     serves, because state cannot move to another candidate's interpreter
     * @param otherShapes decides about other shapes than those in the file
     */
    ServedCandidates(
            String model,
            boolean keepsState,
            InterpreterFactory factory,
            DelegationChoice choice,
            OtherShapes otherShapes) {
        this.model = model;
        this.factory = factory;
        this.otherShapes = otherShapes;
        governor =
                new AtomicReference<>(
                        new ThreadGovernor(keepsState ? choice.only(choice.lightest()) : choice));
    }

    /** Returns the governor, which decides with which candidate a prediction runs. */
    ThreadGovernor governor() {
        return governor.get();
    }

    /** Returns the choice that serves now. */
    DelegationChoice choice() {
        return governor().choice();
    }

    /** Returns the choices for other shapes than those in the file. */
    OtherShapes otherShapes() {
        return otherShapes;
    }

    /** Switches to another choice. */
    void choose(DelegationChoice better) {
        governor.set(new ThreadGovernor(better));
    }

    @Override
    public int candidates() {
        return 1 + choice().lighter().size() + otherShapes.candidates();
    }

    /**
     * Returns the wanted candidate if it belongs to the current choice, else the one with the
     * fewest threads. For other shapes than those in the file it returns their candidate with as
     * many threads.
     */
    @Override
    public Candidate serving(List<List<Integer>> shapes, Candidate wanted) {
        DelegationChoice now = choice();
        if (isInFile(shapes)) {
            return now.candidate().equals(wanted) || now.lighter().contains(wanted)
                    ? wanted
                    : now.lightest();
        }
        for (Candidate each : now.candidates()) {
            if (each.threads() == wanted.threads()) {
                return otherShapes.at(shapes, each);
            }
        }
        return otherShapes.at(shapes, now.lightest());
    }

    /** Returns whether a delegate runs inputs of these shapes, at which it may fail. */
    boolean mayBeRefused(List<List<Integer>> shapes, Candidate wanted) {
        return !isInFile(shapes) && serving(shapes, wanted).delegates();
    }

    @Override
    public boolean isInFile(List<List<Integer>> shapes) {
        // Nearly always the same object.
        return shapes == factory.shapesInFile() || shapes.equals(factory.shapesInFile());
    }

    /**
     * Returns an interpreter for a candidate that serves, or served just now. If the delegate
     * refuses at the shapes in the file, another candidate of the choice is used. If the refused
     * one has the fewest threads, nothing is delegated from now on. One warning says so.
     */
    @Override
    public ModelInterpreter build(List<List<Integer>> shapes, Candidate wanted)
            throws UnplannableException {
        if (!isInFile(shapes)) {
            noteUse(shapes);
            return buildFor(shapes, serving(shapes, wanted));
        }
        while (true) {
            ThreadGovernor now = governor.get();
            Candidate candidate = serving(shapes, wanted);
            if (!candidate.delegates()) {
                return factory.build(shapes, candidate, false);
            }
            try {
                return factory.build(shapes, candidate, false);
            } catch (UnplannableException | RuntimeException e) {
                String why = UnplannableException.reason(e);
                ThreadGovernor instead = new ThreadGovernor(without(now.choice(), candidate, why));
                // If another choice was made meanwhile, that one is tried instead.
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

    /** Counts a prediction for which an interpreter has to be built or reallocated. */
    private void noteUse(List<List<Integer>> shapes) {
        otherShapes.noteChange();
        factory.noteUse(shapes);
    }

    /**
     * Builds an interpreter for other shapes than those in the file. One that delegates is first
     * allocated for the largest shapes, so that its delegate never has to replace its workspace for
     * larger ones.
     */
    private ModelInterpreter buildFor(List<List<Integer>> shapes, Candidate candidate)
            throws UnplannableException {
        Optional<List<List<Integer>>> largest =
                candidate.delegates() ? otherShapes.largerThan(shapes) : Optional.empty();
        if (largest.isPresent()) {
            try {
                Optional<ModelInterpreter> built = reshaped(largest.get(), shapes, candidate);
                if (built.isPresent()) {
                    return built.get();
                }
            } catch (UnplannableException | RuntimeException e) {
                logger.debug("no interpreter for {} was built for {} first", shapes, largest, e);
            }
        }
        return factory.build(shapes, candidate, false);
    }

    private Optional<ModelInterpreter> reshaped(
            List<List<Integer>> first, List<List<Integer>> shapes, Candidate candidate)
            throws UnplannableException {
        ModelInterpreter built;
        try {
            built = factory.build(first, candidate, false);
        } catch (UnplannableException | RuntimeException e) {
            // Without this, building for each smaller shape would first fail at these again.
            otherShapes.refuse(first, UnplannableException.reason(e));
            throw e;
        }
        boolean fits = false;
        try {
            if (factory.reshapes(built, shapes)) {
                factory.reshape(built, shapes);
                fits = true;
            }
        } finally {
            if (!fits) {
                built.close();
            }
        }
        return fits ? Optional.of(built) : Optional.empty();
    }

    @Override
    public void reshape(ModelInterpreter interpreter, List<List<Integer>> shapes)
            throws UnplannableException {
        factory.reshape(interpreter, shapes);
        if (!isInFile(shapes)) {
            noteUse(shapes);
        }
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
