/**
 * TensorFlow Lite models, rewritten so that they can run in a small arena: constants as the kernels
 * read them, and layers that are too large for the arena in slices. Pure.
 */
package org.djlplan.memplan.slicing;
