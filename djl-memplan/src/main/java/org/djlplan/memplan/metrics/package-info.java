/** Micrometer meters of planned models, if Micrometer is on the class path. */
package org.djlplan.memplan.metrics;
