/** What was planned for a model, and what happened at run time. */
package org.djlplan.memplan.report;
