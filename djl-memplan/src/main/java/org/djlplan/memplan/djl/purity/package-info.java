/**
 * Reads the bytecode of imperative blocks to find out what a forward pass does besides computing:
 * whether it may be run twice, and whether it always does the same.
 */
package org.djlplan.memplan.djl.purity;
