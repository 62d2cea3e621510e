/** Stores values across runs of the JVM, above all plans: keys, file formats, folders and locks. */
package org.djlplan.memplan.internal.store;
