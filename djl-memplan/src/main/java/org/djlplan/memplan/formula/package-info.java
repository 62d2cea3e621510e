/**
 * What recordings of a few shapes tell of the allocations that a PyTorch model makes for another
 * shape: their order, and a formula for each size. A pure function of the recordings.
 */
package org.djlplan.memplan.formula;
