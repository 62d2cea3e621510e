/**
 * Models in a budget: a copy of a model from which its weights can be loaded piece by piece, sliced
 * if the budget requires it, and stored beside the model.
 */
package org.djlplan.memplan.internal.planning;
