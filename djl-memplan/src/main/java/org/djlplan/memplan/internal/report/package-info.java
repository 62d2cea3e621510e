/** The implementations of reports, and the sources of a model's reports. */
package org.djlplan.memplan.internal.report;
