/** The types of a model's graph: operators in execution order, tensors, positions of constants. */
package org.djlplan.memplan.graph;
