/** The implementations of reports, and where a model's reports come from. */
package org.djlplan.memplan.internal.report;
