/**
 * The choice among unions of pieces: models that predict the cost of a union, the search for the
 * best unions, and the statistics for comparing measured ones. Pure functions.
 */
package org.djlplan.delegation.internal.choice;
