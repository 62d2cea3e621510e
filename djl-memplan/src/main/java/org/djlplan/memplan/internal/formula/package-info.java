/**
 * Predicts the allocations that a PyTorch model makes for a shape, from recordings of a few other
 * shapes: their order, and a formula for each size. Pure functions of the recordings.
 */
package org.djlplan.memplan.internal.formula;
