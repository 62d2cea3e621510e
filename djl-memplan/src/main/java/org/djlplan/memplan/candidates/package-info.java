/**
 * Runs candidates of a TFLite model in this process, which is usually one of its own, compares
 * their outputs with the CPU kernels' and times them.
 */
package org.djlplan.memplan.candidates;
