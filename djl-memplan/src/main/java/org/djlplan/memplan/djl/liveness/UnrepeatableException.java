package org.djlplan.memplan.djl.liveness;

/**
 * Thrown into a forward pass that is about to change an array it was given, while that pass is
 * being recorded; nothing has been changed yet.
 */
final class UnrepeatableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    UnrepeatableException(String method) {
        super(method + " changes an array that the block was given");
    }
}
