package org.djlplan.memplan.serving;

/**
 * Thrown by the prediction that shows that a model cannot be planned: its file has placeholders for
 * shapes, so nobody could know before. The engine's own block is to run it.
 */
public final class UnplannedModelException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    UnplannedModelException(String reason, Throwable cause) {
        super(reason, cause);
    }
}
