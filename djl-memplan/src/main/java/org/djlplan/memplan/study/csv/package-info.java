/**
 * Usage records and plans as comma-separated files: one header line, no quotes. Columns of records
 * are {@code id,lower,upper,size}; a tensor is alive in the half-open interval [lower, upper), and
 * sizes are taken as they stand; an optional column {@code known} names the operator that resolves
 * the size as it runs, empty where it is known before. A plan has {@code offset,alias} besides.
 */
package org.djlplan.memplan.study.csv;
