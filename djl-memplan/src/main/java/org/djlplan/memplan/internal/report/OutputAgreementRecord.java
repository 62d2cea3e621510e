package org.djlplan.memplan.internal.report;

import java.util.Locale;
import org.djlplan.memplan.report.OutputAgreement;

/** The implementation of {@link OutputAgreement}. */
public record OutputAgreementRecord(String output, double difference, double noise, double limit)
        implements OutputAgreement {

    @Override
    public String toString() {
        return output
                + " differs by "
                + rounded(difference)
                + ", noise "
                + rounded(noise)
                + ", limit "
                + rounded(limit);
    }

    /** Returns steps as integers, and fractions with two digits. */
    private static String rounded(double value) {
        return value == Math.rint(value)
                ? String.format(Locale.ROOT, "%.0f", value)
                : String.format(Locale.ROOT, "%.1e", value);
    }
}
