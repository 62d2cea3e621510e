/**
 * What a delegate may take of a model, in pieces: pieces, what they cost to cross into, and what
 * the engine makes of them. Pure functions of a graph.
 *
 * <p>A <em>partition</em> is what the delegate reports when it may take everything it supports. A
 * <em>piece</em> is a partition or a piece of one, cut where few bytes cross. A candidate delegates
 * a union of pieces. The engine turns the union into <em>delegate kernels</em>, by its own rule
 * ({@link org.djlplan.delegation.partition.DelegatedGraph}).
 */
package org.djlplan.delegation.partition;
