/**
 * Usage records and plans as comma-separated files: one header line, no quotes. Columns of records
 * are {@code id,lower,upper,size}. A tensor is alive in the half-open interval [lower, upper), and
 * sizes are used unchanged. An optional column {@code known} names the operator that resolves the
 * size at run time, and is empty if the size is known in advance. A plan has {@code offset,alias}
 * in addition.
 */
package org.djlplan.study.csv;
