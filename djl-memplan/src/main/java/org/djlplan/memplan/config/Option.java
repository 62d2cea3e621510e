package org.djlplan.memplan.config;

/** An option of ours: its key, and all that documentation says of it. */
public interface Option {

    /** Returns the key as users write it, for example {@code memplan.maxPredictions}. */
    String key();

    /** Returns what holds when nobody sets it. */
    String defaultValue();

    /** Returns who may set it. */
    Origin origin();

    /** Returns what it means, in Markdown. */
    String meaning();
}
