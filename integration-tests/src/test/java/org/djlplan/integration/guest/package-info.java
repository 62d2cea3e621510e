/** The measuring process beside applications, as these are shipped and run in practice. */
package org.djlplan.integration.guest;
