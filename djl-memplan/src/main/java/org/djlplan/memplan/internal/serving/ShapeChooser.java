package org.djlplan.memplan.internal.serving;

import org.djlplan.memplan.spi.ShapeMix;

/** Chooses a delegation for the shapes of a model's predictions, and passes it on to the model. */
public interface ShapeChooser {

    /**
     * Starts a choice for a mix of shapes, in the background, and cancels the one for the previous
     * mix.
     */
    void request(ShapeMix mix);

    /** Returns whether the latest request is answered with a verified choice, or never will be. */
    boolean isSettled();
}
