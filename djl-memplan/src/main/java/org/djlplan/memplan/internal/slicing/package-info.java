/**
 * Rewrites TensorFlow Lite models for small arenas: constants in the type that kernels read, and
 * too large layers in slices. Pure.
 */
package org.djlplan.memplan.internal.slicing;
