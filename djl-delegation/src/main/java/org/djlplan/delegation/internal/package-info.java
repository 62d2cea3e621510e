/**
 * Chooses the operators of a model that run in the engine's delegate: from a result stored next to
 * the model, or measured once, before the model is ready or in the background.
 */
package org.djlplan.delegation.internal;
