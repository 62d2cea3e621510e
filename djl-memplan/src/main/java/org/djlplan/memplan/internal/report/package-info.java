/** Makes reports, and has the sources of models' reports. */
package org.djlplan.memplan.internal.report;
