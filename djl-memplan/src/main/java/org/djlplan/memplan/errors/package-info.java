/** Exceptions that applications may catch. */
package org.djlplan.memplan.errors;
