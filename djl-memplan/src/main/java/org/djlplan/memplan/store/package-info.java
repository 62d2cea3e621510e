/**
 * Keeps values between runs of a JVM, plans first of all: keys, forms of files, folders and locks.
 */
package org.djlplan.memplan.store;
