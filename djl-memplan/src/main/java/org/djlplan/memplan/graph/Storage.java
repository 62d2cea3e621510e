package org.djlplan.memplan.graph;

/** The owner and the lifetime of a tensor's memory. */
public enum Storage {
    /** Part of the model file, never written. */
    CONSTANT,
    /** State that a model keeps between inferences. */
    VARIABLE,
    /** Lives during one inference only; the only storage that is planned. */
    INTERMEDIATE,
    /**
     * Kept by the engine itself: persistent copies, and tensors whose size is known only at run
     * time.
     */
    ENGINE
}
