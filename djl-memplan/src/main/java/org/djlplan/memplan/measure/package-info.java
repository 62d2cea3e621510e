/**
 * A process that runs candidates of a model for the module that chooses among them, so that a crash
 * there costs the candidate only. {@link org.djlplan.memplan.measure.ProcessRunner} is the
 * application's end, {@link org.djlplan.memplan.measure.MeasuringProcess} the other; they talk
 * through {@link org.djlplan.memplan.child}.
 */
package org.djlplan.memplan.measure;
