/** Shared by the tests of all modules, as the test jar of this one. */
package org.djlplan.memplan.testing;
