/** Tables of measurements kept between runs of a JVM, next to the model. */
package org.djlplan.delegation.store;
