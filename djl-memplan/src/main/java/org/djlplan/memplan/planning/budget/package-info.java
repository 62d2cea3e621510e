/**
 * Models that run inside a budget: a copy of a model from which its weights can be loaded piece by
 * piece, sliced where the budget asks for it, kept beside the model.
 */
package org.djlplan.memplan.planning.budget;
