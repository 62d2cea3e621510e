/**
 * Reordering: an order of a model's operators with a smaller arena, kept beside the model together
 * with a copy of the model in that order.
 */
package org.djlplan.memplan.planning.order;
