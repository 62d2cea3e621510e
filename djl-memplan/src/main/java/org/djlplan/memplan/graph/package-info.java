/**
 * The graph of a model, as types only: operators in execution order, tensors, where constants lie.
 */
package org.djlplan.memplan.graph;
