package org.djlplan.memplan.runtime.tflite;

import java.util.Optional;
import java.util.function.Function;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.DelegationChoice.Origin;

/**
 * What is delegated of a model.
 *
 * @param name of the delegate
 * @param delegates make the delegate of each interpreter
 * @param choice what is delegated to begin with, asked for once the model is read
 */
public record DelegationSetup(
        String name, DelegateFactory delegates, Function<Graph, DelegationChoice> choice) {

    /** Returns what builds the interpreters of a model of which this, or nothing, is delegated. */
    static InterpreterFactory factory(
            OpenModel model,
            RuntimeOptions options,
            PlanFinder planner,
            Optional<DelegationSetup> setup) {
        DelegationChoice choice =
                setup.map(s -> s.choice().apply(model.graph()))
                        .orElseGet(() -> nothing(options.threads()));
        DelegateFactory delegates =
                setup.map(DelegationSetup::delegates)
                        .orElseGet(() -> Delegates.named(Delegates.XNNPACK));
        return new InterpreterFactory(
                model.sessions(), model.graph(), options, planner, delegates, choice);
    }

    private static DelegationChoice nothing(int threads) {
        return new DelegationChoice(Candidate.cpu(threads), Origin.UNVERIFIED, "delegation is off");
    }
}
