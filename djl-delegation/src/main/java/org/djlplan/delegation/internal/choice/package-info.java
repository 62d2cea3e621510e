/**
 * The request for a choice, which also knows what a stored result must match, and what it needs:
 * the goal that orders candidates, the model that predicts the cost of a union of pieces, the race
 * that compares measured ones, and the table with the result. Pure functions.
 */
package org.djlplan.delegation.internal.choice;
