/**
 * Exceptions that applications may catch.
 *
 * @since 0.2
 */
@NullMarked
package org.djlplan.memplan.errors;

import org.jspecify.annotations.NullMarked;
