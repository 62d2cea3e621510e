/** Plans kept between runs of a JVM: by which key, in which form, and where. */
package org.djlplan.memplan.store;
