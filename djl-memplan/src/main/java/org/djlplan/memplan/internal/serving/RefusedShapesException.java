package org.djlplan.memplan.internal.serving;

import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;

/**
 * Signals that the delegate failed at some input shapes. Predictions with these shapes run in the
 * CPU kernels from now on.
 */
final class RefusedShapesException extends UnplannableException {

    private static final long serialVersionUID = 1L;

    RefusedShapesException(String message) {
        super(message);
    }
}
