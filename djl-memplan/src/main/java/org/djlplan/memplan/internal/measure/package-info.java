/**
 * A process that runs candidates of a model for djl-delegation, so that a crash affects only the
 * candidate. {@link org.djlplan.memplan.internal.measure.ProcessRunner} is the application's end,
 * {@link org.djlplan.memplan.internal.measure.MeasuringProcess} the other; they communicate through
 * {@link org.djlplan.memplan.internal.child}.
 */
package org.djlplan.memplan.internal.measure;
