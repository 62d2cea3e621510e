/**
 * Analyzes the bytecode of imperative blocks to find the side effects of a forward pass: whether it
 * may be run twice, and whether it always does the same.
 */
package org.djlplan.memplan.internal.djl.purity;
