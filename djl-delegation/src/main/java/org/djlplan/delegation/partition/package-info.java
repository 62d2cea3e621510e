/**
 * The partitions of a model that a delegate may take: cut into pieces, with what it costs to enter
 * and leave them, and the delegate kernels that the engine makes of them. Pure functions of a
 * graph.
 *
 * <p>A <em>partition</em> is what the delegate reports when it may take everything it supports. A
 * <em>piece</em> is a whole partition or a part of one, cut where few bytes cross. A candidate
 * delegates a union of pieces. The engine turns the union into <em>delegate kernels</em>, by its
 * own rule ({@link org.djlplan.delegation.partition.DelegatedGraph}).
 */
package org.djlplan.delegation.partition;
