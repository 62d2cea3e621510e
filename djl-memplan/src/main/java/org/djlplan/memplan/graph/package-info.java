/**
 * The types of a model's graph: operators in execution order, tensors, positions of constants.
 *
 * @since 0.2
 */
@NullMarked
package org.djlplan.memplan.graph;

import org.jspecify.annotations.NullMarked;
