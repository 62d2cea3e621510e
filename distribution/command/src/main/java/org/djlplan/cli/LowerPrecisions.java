package org.djlplan.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.djlplan.delegation.internal.DelegationKey;
import org.djlplan.delegation.internal.DelegationOptions;
import org.djlplan.delegation.internal.Tuning;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.Precision;

/** Measures what weights of a lower precision would bring that loads do not permit yet. */
final class LowerPrecisions {

    private LowerPrecisions() {}

    /**
     * Returns the choice that would be made with each precision, and its reason. Nothing is stored.
     *
     * @param setting of loads
     * @return by precision; empty if loads permit one already, or the model has none
     */
    static Map<String, String> of(DelegableModel model, DelegationOptions setting)
            throws IOException, InterruptedException {
        Map<String, String> choices = new LinkedHashMap<>();
        if (!setting.precision().isLower()) {
            for (String name : model.precisions()) {
                Precision precision = Precision.parse(name).orElseThrow();
                Tuning.tryOut(model, setting, precision)
                        .ifPresent(tried -> choices.put(name, tried.reason()));
            }
        }
        return choices;
    }

    /** Returns a choice as a sentence. */
    static String sentence(String precision, String choice) {
        return "%s=%s would choose %s"
                .formatted(DelegationKey.PRECISION.key(), precision, TextTable.plain(choice));
    }
}
