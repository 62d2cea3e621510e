/** Tests with little memory, few addresses, short-lived class loaders and missing classes. */
package org.djlplan.integration.limits;
