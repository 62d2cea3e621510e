/**
 * Analyses of a table of measurements for people, at the command line: why each operator is
 * delegated or not, the Pareto front, and the choice of TensorFlow Lite's own rule. Pure functions
 * that no application needs.
 */
package org.djlplan.study.delegation;
