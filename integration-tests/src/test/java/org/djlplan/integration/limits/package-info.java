/** Little memory, few addresses, class loaders that come and go, classes that are not there. */
package org.djlplan.integration.limits;
