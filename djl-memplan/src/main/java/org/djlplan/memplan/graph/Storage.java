package org.djlplan.memplan.graph;

/** Who owns a tensor's memory, and for how long. */
public enum Storage {
    /** Part of the model file, never written. */
    CONSTANT,
    /** State that a model keeps from one inference to the next. */
    VARIABLE,
    /** Lives inside one inference only; the only storage that is ever planned. */
    INTERMEDIATE,
    /**
     * Kept by the engine itself: persistent copies, tensors whose size is known only at run time.
     */
    ENGINE
}
