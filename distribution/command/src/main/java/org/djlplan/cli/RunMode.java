package org.djlplan.cli;

import java.util.Locale;

/** The mode in which a model runs: stock, planned, or planned and delegated. */
enum RunMode {
    /** By DJL or the bare engine, without this project. */
    STOCK,
    /** With planned memory; the outputs are the same bytes as stock. */
    PLANNED,
    /**
     * As {@code PlannedTranslatorFactory} does in an application: with planned memory, and with
     * operators delegated, or a TorchScript model rewritten, if that is faster.
     */
    DELEGATED;

    /** Returns its name in messages, tables and JSON. */
    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
