/** Models that run in another order than their file's. */
package org.djlplan.integration.order;
