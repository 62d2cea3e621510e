/**
 * Runs candidates of a TensorFlow Lite model in this process (usually a child process), compares
 * their outputs with the CPU kernels', and times them.
 */
package org.djlplan.memplan.internal.candidates;
