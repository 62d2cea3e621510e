/** Reports to look at: a page that carries its data, and nothing else. */
package org.djlplan.memplan.cli.report;
