package org.djlplan.memplan.spi;

import static com.google.common.base.Preconditions.checkArgument;

/**
 * What a model runs with, and why.
 *
 * @param candidate the operators and threads
 * @param origin where the choice comes from
 * @param reason in one line, for people
 */
public record DelegationChoice(Candidate candidate, Origin origin, String reason) {

    /** Where a choice comes from. */
    public enum Origin {
        /** Computed from what operators cost on this machine; nothing was run. */
        PREDICTED,
        /** Measured now. */
        MEASURED,
        /** Measured earlier and kept. */
        STORED
    }

    public DelegationChoice {
        checkArgument(!reason.isEmpty(), "a choice without a reason");
    }
}
