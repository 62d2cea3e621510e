/** Runs what the builds of the examples made, each in a JVM of its own, as their README says. */
package org.djlplan.integration.examples;
