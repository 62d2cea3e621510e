/**
 * Predicting what sets of units cost, comparing what was measured, and choosing; pure functions.
 */
package org.djlplan.delegation.choice;
