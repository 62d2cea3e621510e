/**
 * The partitions of a model, their parts, and the delegate kernels that the engine makes of them.
 * Pure functions of a graph.
 *
 * <p>A <em>partition</em> is a set of operators that the delegate reports if it is offered
 * everything that it supports. A <em>unit</em> is a partition without constant operators, or a part
 * of one, cut where few bytes cross. A candidate delegates a union of units. The engine turns the
 * union into <em>delegate kernels</em>, by its own rule ({@link
 * org.djlplan.delegation.internal.partition.Dataflow#kernels}).
 */
package org.djlplan.delegation.internal.partition;
