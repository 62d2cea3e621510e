/**
 * The only package that touches DJL's model loading: puts a planned block in the place of the
 * engine's, and wraps translators.
 */
package org.djlplan.memplan.djl;
