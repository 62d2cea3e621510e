/**
 * The only package that touches DJL's loading of models: replaces the engine's block by a planned
 * one, and wraps translators.
 */
package org.djlplan.memplan.internal.djl;
