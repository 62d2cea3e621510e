/**
 * Chooses the operators of a model that run in the engine's delegate: takes the result stored next
 * to the model, or measures once, before the model is ready or in the background.
 */
package org.djlplan.delegation.internal;
