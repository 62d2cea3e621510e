/**
 * Predicts rows of a pipeline in batches of one size, in order, with a limited number of rows in
 * memory.
 */
package org.djlplan.memplan.rows;
