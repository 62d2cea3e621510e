/**
 * Readings of a table of measurements for people, at the command line: why each operator is
 * delegated or not, the Pareto front, what TensorFlow Lite's own rule would choose, and what could
 * have predicted it. Pure functions; no application needs them.
 */
package org.djlplan.delegation.study;
