/**
 * Recorded predictions of imperative blocks, and data derived from them: live ranges of arrays, and
 * a graph.
 */
package org.djlplan.memplan.internal.source.block;
