/** Runs the examples' built programs, each in its own JVM, as their README says. */
package org.djlplan.integration.examples;
