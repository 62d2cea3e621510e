/**
 * How operators are chosen: the request, which also knows what a stored result must match; the goal
 * that orders candidates; the model that predicts the cost of a union of pieces; the race that
 * compares measured candidates; and the table with the result. Pure functions.
 */
package org.djlplan.delegation.internal.choice;
