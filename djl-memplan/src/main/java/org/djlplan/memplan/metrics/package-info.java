/** Figures of planned models for Micrometer, where that is on the class path. */
package org.djlplan.memplan.metrics;
