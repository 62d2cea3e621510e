/**
 * Usage records and plans as comma-separated files: one header line, no quotes. Columns of records
 * are {@code id,lower,upper,size}; a tensor is alive in the half-open interval [lower, upper), and
 * sizes are taken as they stand. A plan has {@code offset,alias} besides.
 */
package org.djlplan.memplan.study.csv;
