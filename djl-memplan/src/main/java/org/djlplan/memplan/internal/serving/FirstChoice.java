package org.djlplan.memplan.internal.serving;

import java.util.Optional;
import org.djlplan.memplan.internal.runtime.tflite.InterpreterFactory;
import org.djlplan.memplan.internal.runtime.tflite.ModelInterpreter;
import org.djlplan.memplan.internal.runtime.tflite.OpenModel;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegationChoice;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The choice with which a model is served first; it is made while the model is loaded. An
 * interpreter of the CPU kernels (the probe) is built if the file leaves dimensions open, or if
 * delegating is deferred.
 *
 * @param choice the candidates
 * @param waits whether nothing can be allocated before the first prediction
 * @param defers whether nothing is delegated at the shapes in the file until a prediction has these
 *     shapes. If the shapes in the file are large, a delegate may take many times the memory that
 *     it takes at the smaller shapes of a prediction.
 * @param probe the interpreter with which the model's properties were determined, for the shapes in
 *     the file; the caller closes it or lets it serve
 */
record FirstChoice(
        DelegationChoice choice, boolean waits, boolean defers, Optional<ModelInterpreter> probe) {

    private static final Logger logger = LoggerFactory.getLogger(FirstChoice.class);

    private static final String WAITS =
            "the shapes in its file are placeholders, so nothing is delegated at them";

    /**
     * Determines the choice that serves a model.
     *
     * @param delegation makes the choice, if the model can be measured; empty to run everything in
     *     CPU kernels
     * @param threads of the CPU kernels
     * @throws UnplannableException if the model cannot be planned here
     */
    static FirstChoice of(
            OpenModel model,
            InterpreterFactory factory,
            Optional<ServedDelegation> delegation,
            int threads)
            throws UnplannableException {
        Candidate cpu = Candidate.cpu(threads);
        Optional<ModelInterpreter> probe =
                model.leavesDimensions() ? probe(model, factory, cpu) : Optional.empty();
        boolean waits = model.leavesDimensions() && probe.isEmpty();
        try {
            DelegationChoice choice = choice(model, waits, delegation, cpu);
            boolean defers =
                    delegation.isPresent()
                            && delegation.get().expectsOtherShapes()
                            && !model.keepsState();
            if (defers && choice.lightest().delegates() && probe.isEmpty()) {
                probe = probe(model, factory, cpu);
            }
            return new FirstChoice(choice, waits, defers, probe);
        } catch (UnplannableException | RuntimeException | Error e) {
            probe.ifPresent(ModelInterpreter::close);
            throw e;
        }
    }

    private static DelegationChoice choice(
            OpenModel model, boolean waits, Optional<ServedDelegation> delegation, Candidate cpu) {
        if (waits) {
            return new DelegationChoice(cpu, Origin.UNVERIFIED, WAITS);
        }
        return delegation.isPresent()
                ? delegation.get().first(model.graph(), model.identity())
                : new DelegationChoice(cpu, Origin.UNVERIFIED, "delegation is off");
    }

    /**
     * Builds an interpreter for the shapes in the file, which may be placeholders.
     *
     * @return empty if the engine can allocate nothing for them
     */
    private static Optional<ModelInterpreter> probe(
            OpenModel model, InterpreterFactory factory, Candidate cpu)
            throws UnplannableException {
        try {
            return Optional.of(factory.build(factory.shapesInFile(), cpu, false));
        } catch (IllegalStateException e) {
            logger.debug("{} waits for the shapes of its inputs", model.graph().name(), e);
            return Optional.empty();
        }
    }

    /**
     * Describes the model by its probe; empty if only an interpreter of the first serving candidate
     * can describe it.
     */
    Optional<ModelInterpreter.Description> described() {
        return defers && choice.lightest().delegates()
                ? probe.map(ModelInterpreter::description)
                : Optional.empty();
    }

    /** Returns the probe, once, if it is for the first serving candidate; otherwise closes it. */
    Optional<ModelInterpreter> takeProbe() {
        if (probe.isPresent() && !probe.get().delegates(choice.lightest())) {
            probe.get().close();
            return Optional.empty();
        }
        return probe;
    }
}
