package org.djlplan.memplan.cli.report;

/** A file that is no report, or a damaged one. */
public final class ReportFormatException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    /**
     * @param where path of the value in the report, such as {@code plan.tensors[3].first}
     * @param problem may quote the file: what would begin a new line in it is shown as a space
     */
    ReportFormatException(String where, String problem) {
        super(("no report: " + where + " " + problem).replaceAll("[\\p{Cntrl}]", " "));
    }
}
