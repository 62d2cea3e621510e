/** One contract for all engines, tested through DJL's criteria and predictors. */
package org.djlplan.integration.contract;
