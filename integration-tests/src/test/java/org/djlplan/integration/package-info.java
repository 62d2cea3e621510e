/** Runs djl-plan with the real engines. */
package org.djlplan.integration;
