/**
 * The request for a choice, and what it needs: the goal that orders candidates, models that predict
 * the cost of a union of pieces, and the statistics for comparing measured ones. Pure functions.
 */
package org.djlplan.delegation.internal.choice;
