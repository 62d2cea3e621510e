/** The jars as applications get them, and the packaged command as users get it. */
package org.djlplan.integration.distribution;
