/** Networks with random weights that the integration tests run. */
package org.djlplan.integration.networks;
