package org.djlplan.memplan.djl.liveness;

/**
 * Thrown into a forward pass that is about to leave something behind, while that pass is being
 * recorded; nothing has been changed yet.
 */
final class UnrepeatableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * @param what it is about to do
     */
    UnrepeatableException(String what) {
        super(what);
    }
}
