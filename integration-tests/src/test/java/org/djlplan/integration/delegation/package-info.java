/** What delegation brings, with the real engine and its delegate. */
package org.djlplan.integration.delegation;
