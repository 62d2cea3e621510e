/** The jars as an application gets them, and the command with all that it needs as a user does. */
package org.djlplan.integration.distribution;
