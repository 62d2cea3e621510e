package org.djlplan.memplan.spi;

/** An option of djl-plan: its key and its documentation. */
public interface Option {

    /** Returns the key as users write it, for example {@code memplan.maxPredictions}. */
    String key();

    /** Returns the default value, for documentation. */
    String defaultValue();

    /** Returns who may set it. */
    Origin origin();

    /** Returns what it means, in Markdown. */
    String meaning();
}
