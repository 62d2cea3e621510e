/** Helpers for the tests of all modules, in this module's test jar. */
package org.djlplan.memplan.testing;
