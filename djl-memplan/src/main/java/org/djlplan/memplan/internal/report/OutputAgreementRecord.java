package org.djlplan.memplan.internal.report;

import org.djlplan.memplan.report.OutputAgreement;

/** The implementation of {@link OutputAgreement}. */
public record OutputAgreementRecord(String output, double difference, double noise, double limit)
        implements OutputAgreement {

    @Override
    public String toString() {
        return output + " differs by " + difference + ", noise " + noise + ", limit " + limit;
    }
}
