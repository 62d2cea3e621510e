package org.djlplan.memplan.cli;

import java.util.Locale;

/** Mode in which a model is run: stock, planned, or planned and delegated. */
enum Way {
    /** By DJL or the bare engine, without this project. */
    STOCK,
    /** In planned memory; the same bytes come out as of stock. */
    PLANNED,
    /** As the one line in an application does: in planned memory, and what pays is delegated. */
    DELEGATED;

    /** Returns what it is called in messages, tables and JSON. */
    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
