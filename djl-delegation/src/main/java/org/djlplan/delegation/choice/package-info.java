/**
 * The choice among unions of pieces: models that predict what a union costs, the search for the
 * best unions, and the statistics by which measured ones are compared. Pure functions.
 */
package org.djlplan.delegation.choice;
