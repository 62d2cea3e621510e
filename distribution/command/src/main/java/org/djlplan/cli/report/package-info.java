/** Viewable reports: a self-contained page with its data. */
package org.djlplan.cli.report;
