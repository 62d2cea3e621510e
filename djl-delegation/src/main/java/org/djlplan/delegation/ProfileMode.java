package org.djlplan.delegation;

/** When candidates are measured. */
public enum ProfileMode {
    /** While the application runs, beginning with a prediction. */
    BACKGROUND,
    /** Before the model is ready. */
    BLOCKING,
    /** Never. */
    OFF
}
