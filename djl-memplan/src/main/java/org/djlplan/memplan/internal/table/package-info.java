/**
 * Rows of the tables of measurements for delegation, with and without a budget: the result of one
 * candidate's trial. Types only.
 */
package org.djlplan.memplan.internal.table;
