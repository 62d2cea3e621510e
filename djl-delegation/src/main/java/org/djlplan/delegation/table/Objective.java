package org.djlplan.delegation.table;

/** What a choice makes as small as possible. */
public enum Objective {
    /** The median latency of a prediction. */
    LATENCY,
    /** The memory that a model takes; the faster of two that take as much. */
    MEMORY,
    /** The product of both, so that one percent of either counts the same. */
    BALANCED
}
