/**
 * Networks made here, layer by layer, with seeded random weights: for {@code djlplan demo} and for
 * tests, which so need no model of anyone else's.
 */
package org.djlplan.memplan.cli.demo;
