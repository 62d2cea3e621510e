package org.djlplan.integration.support;

import static java.util.Comparator.naturalOrder;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.internal.candidates.CandidateInterpreters;
import org.djlplan.memplan.internal.config.PlanOptions;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;

/**
 * A model whose delegate runs all operators that it takes.
 *
 * @param file the model
 * @param delegate value of {@code delegation.delegate}
 * @param candidate all operators that the delegate takes
 */
public record Delegated(Path file, String delegate, Candidate candidate) {

    /** Returns the model with all operators that the delegate takes. */
    public static Delegated all(Path file, String delegate, int threads) throws Exception {
        try (CandidateInterpreters candidates = Served.candidates(file, delegate)) {
            return new Delegated(file, delegate, everything(candidates, threads));
        }
    }

    /** Returns all operators that a delegate takes. */
    public static Candidate everything(CandidateInterpreters candidates, int threads)
            throws CandidateException {
        return new Candidate(
                candidates.partitions().stream()
                        .flatMap(Set::stream)
                        .collect(ImmutableSortedSet.toImmutableSortedSet(naturalOrder())),
                threads);
    }

    /** Opens the model; its workspace is shared with other models' or its own. */
    public ServedModel open(boolean shared) throws Exception {
        PlanOptions options = Served.options(Map.of());
        DelegationChoice choice = new DelegationChoice(candidate, Origin.MEASURED, "a test");
        return ServedModel.open(
                file,
                options,
                Served.planner(),
                Optional.of(
                        new FixedDelegation(
                                delegate, Delegates.named(delegate), choice, shared, false)));
    }
}
