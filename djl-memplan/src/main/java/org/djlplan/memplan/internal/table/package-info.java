/**
 * Rows of tables of measurements, of delegation inside a budget and outside: what one candidate's
 * trial showed, and whether the candidate may serve. Types only.
 */
package org.djlplan.memplan.internal.table;
