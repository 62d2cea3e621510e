/** Rows of a pipeline, predicted in batches of one size, in order, and a few at a time. */
package org.djlplan.memplan.rows;
