package org.djlplan.cli.report;

/** Signals a file that is not a report, or a damaged report. */
public final class ReportFormatException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    /**
     * @param where path of the value in the report, such as {@code plan.tensors[3].first}
     * @param problem may quote the file; line breaks in it are shown as spaces
     */
    ReportFormatException(String where, String problem) {
        super(("no report: " + where + " " + problem).replaceAll("[\\p{Cntrl}]", " "));
    }
}
