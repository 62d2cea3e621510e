/**
 * The choice of the operators of a model that go to the engine's delegate: taken from what is kept
 * next to the model, or measured once, before the model is ready or in the background.
 */
package org.djlplan.delegation;
