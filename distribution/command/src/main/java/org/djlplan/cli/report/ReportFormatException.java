package org.djlplan.cli.report;

import org.djlplan.thirdparty.guava.base.Ascii;

/** Signals a file that is not a report, or a damaged report. */
public final class ReportFormatException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    /**
     * @param problem may quote the file; only its first line is shown, without control characters
     */
    ReportFormatException(String problem) {
        super(
                "no report: "
                        + Ascii.truncate(problem.lines().findFirst().orElse(""), 200, "…")
                                .replaceAll("\\p{Cntrl}", " "));
    }
}
