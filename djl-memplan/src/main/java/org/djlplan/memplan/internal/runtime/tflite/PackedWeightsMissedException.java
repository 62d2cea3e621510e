package org.djlplan.memplan.internal.runtime.tflite;

/** Signals that a delegate did not find all of its weights among those that another one packed. */
final class PackedWeightsMissedException extends UnplannableException {

    private static final long serialVersionUID = 1L;

    PackedWeightsMissedException(String message) {
        super(message);
    }
}
