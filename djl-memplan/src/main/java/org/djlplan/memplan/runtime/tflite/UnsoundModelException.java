package org.djlplan.memplan.runtime.tflite;

/**
 * A model, or the shapes or values of its inputs, would have the engine compute with sizes or
 * positions that its kernels do not check: outside of a tensor, of no elements, or of more than
 * this machine has memory for. The message says what, and at which operator. No kernel ran with it.
 */
public final class UnsoundModelException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    UnsoundModelException(String message) {
        super(message);
    }
}
