/** Reports of what was planned for a model and of what happened at run time. */
package org.djlplan.memplan.report;
