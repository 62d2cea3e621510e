/**
 * The request for a choice, and what it needs: the goal that orders candidates, the model that
 * predicts the cost of a union of pieces, the statistics for comparing measured ones, and the table
 * with the result. Pure functions.
 */
package org.djlplan.delegation.internal.choice;
