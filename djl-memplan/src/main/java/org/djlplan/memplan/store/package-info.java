/**
 * What is kept between runs of a JVM, plans first of all: by which key, in which form, and where.
 */
package org.djlplan.memplan.store;
