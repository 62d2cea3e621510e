package org.djlplan.memplan.errors;

/**
 * Signals that a model, or the shapes or values of its inputs, would make the engine compute with
 * sizes or positions that its kernels do not check: positions outside a tensor, sizes of 0
 * elements, or sizes beyond this machine's memory. The message names the value and the operator. No
 * kernel ran with it.
 */
public final class UnsoundModelException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    public UnsoundModelException(String message) {
        super(message);
    }
}
