/**
 * Predicting what sets of pieces cost, comparing what was measured, and choosing; pure functions.
 */
package org.djlplan.delegation.choice;
