/**
 * Predicts rows of a pipeline in batches of one size, in order, with a limited number of rows in
 * memory.
 *
 * @since 0.2
 */
@NullMarked
package org.djlplan.memplan.rows;

import org.jspecify.annotations.NullMarked;
