/** Shared by all tests: models to run, stock engines to compare with, JVMs to start. */
package org.djlplan.integration.support;
