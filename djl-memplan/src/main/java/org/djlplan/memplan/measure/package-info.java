/**
 * A process that runs candidates of a model for djl-delegation, so that a crash affects only the
 * candidate. {@link org.djlplan.memplan.measure.ProcessRunner} is the application's end, {@link
 * org.djlplan.memplan.measure.MeasuringProcess} the other; they communicate through {@link
 * org.djlplan.memplan.child}.
 */
package org.djlplan.memplan.measure;
