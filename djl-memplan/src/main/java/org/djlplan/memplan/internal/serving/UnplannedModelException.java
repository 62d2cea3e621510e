package org.djlplan.memplan.internal.serving;

/**
 * Thrown by the first prediction if it shows that a model cannot be planned: its file has
 * placeholder shapes, so this could not be known before. The engine's own block must run it.
 */
public final class UnplannedModelException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    UnplannedModelException(String reason, Throwable cause) {
        super(reason, cause);
    }
}
