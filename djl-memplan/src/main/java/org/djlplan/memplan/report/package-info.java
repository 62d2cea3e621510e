/** Reports on the plan of a model and on its predictions. */
package org.djlplan.memplan.report;
