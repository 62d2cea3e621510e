/** Makes reports, writes them as JSON, and has the sources of models' reports. */
package org.djlplan.memplan.internal.report;
