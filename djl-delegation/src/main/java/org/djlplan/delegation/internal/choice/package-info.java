/**
 * How operators are chosen: the partitions of a model and their units; the request, which also
 * knows what a stored result must match; the goal that orders candidates; the race that compares
 * measured candidates; and the table with the result. Pure functions.
 *
 * <p>A <em>partition</em> is a set of operators that the delegate reports if it is offered
 * everything that it supports. A <em>unit</em> is a partition without constant operators, or a part
 * of one, cut where few bytes cross. A candidate delegates a union of units. The engine turns the
 * union into <em>delegate kernels</em>, by its own rule ({@link
 * org.djlplan.delegation.internal.choice.Dataflow#kernels}).
 */
package org.djlplan.delegation.internal.choice;
