/**
 * Predictions of imperative blocks as they were recorded, and what follows from them: live ranges
 * of arrays, and a graph.
 */
package org.djlplan.memplan.source.block;
