/** Tests of the measuring process beside applications that are packaged and run as in practice. */
package org.djlplan.integration.guest;
