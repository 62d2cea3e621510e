package org.djlplan.memplan.internal.djl;

import java.util.Optional;
import org.djlplan.memplan.internal.measure.TorchDelegableModel;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.spi.DelegationChoice;

/**
 * The choice how a TorchScript model is rewritten, for reports. Retains neither the model nor what
 * chooses.
 */
final class RewriteChoice {

    private static final String STOCK = "stock";

    private final String libtorch;
    private volatile Optional<DelegationChoice> latest = Optional.empty();

    /**
     * @param libtorch version of the engine's native library
     */
    RewriteChoice(String libtorch) {
        this.libtorch = libtorch;
    }

    void set(DelegationChoice choice) {
        latest = Optional.of(choice);
    }

    /** Returns whether a rewritten module serves. */
    boolean isRewritten() {
        return latest.map(choice -> !choice.candidate().isStock()).orElse(false);
    }

    /** Returns the choice so far; empty if nothing is known yet. */
    Optional<DelegationReport> report() {
        return latest.map(
                choice ->
                        new DelegationReport(
                                choice.candidate().isStock() ? STOCK : choice.candidate().recipe(),
                                0,
                                0,
                                0,
                                choice.candidate().threads(),
                                choice.origin(),
                                choice.reason(),
                                choice.id("PyTorch " + libtorch, TorchDelegableModel.ENGINE),
                                choice.outputs(),
                                ""));
    }
}
