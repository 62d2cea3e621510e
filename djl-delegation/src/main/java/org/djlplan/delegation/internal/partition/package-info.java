/**
 * The partitions of a model: cut into pieces, with the cost of entering and leaving them, and the
 * delegate kernels that the engine makes of them. Pure functions of a graph.
 *
 * <p>A <em>partition</em> is a set of operators that the delegate reports if it is offered
 * everything that it supports. A <em>piece</em> is a whole partition or a part of one, cut where
 * few bytes cross. A candidate delegates a union of pieces. The engine turns the union into
 * <em>delegate kernels</em>, by its own rule ({@link
 * org.djlplan.delegation.internal.partition.Dataflow#kernels}).
 */
package org.djlplan.delegation.internal.partition;
