/** Recorded predictions of imperative blocks, and the live ranges of their arrays. */
package org.djlplan.memplan.internal.source.block;
