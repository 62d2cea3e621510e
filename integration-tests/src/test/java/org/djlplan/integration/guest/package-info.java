/** The measuring process beside an application as people ship and run one. */
package org.djlplan.integration.guest;
