/**
 * Networks generated layer by layer with seeded random weights, for {@code djlplan demo} and for
 * tests, which therefore need no published model.
 */
package org.djlplan.cli.demo;
