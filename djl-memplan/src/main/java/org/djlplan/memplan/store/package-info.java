/** Plans kept between runs of a JVM: by which key, and where. */
package org.djlplan.memplan.store;
