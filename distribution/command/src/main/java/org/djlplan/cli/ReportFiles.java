package org.djlplan.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.cli.report.ChromeTrace;
import org.djlplan.cli.report.MapPicture;
import org.djlplan.cli.report.Report;
import org.djlplan.cli.report.ReportFile;
import picocli.CommandLine.Option;

/** The output files of a report; each is written completely or left unchanged. */
final class ReportFiles {

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description =
                    "Write a self-contained page (default, if no other file is requested: "
                            + "the model's name and -report.html, in the current folder).")
    private Optional<Path> html = Optional.empty();

    @Option(
            names = "--svg",
            paramLabel = "FILE",
            description = "Draw the memory map of the best plan as SVG.")
    private Optional<Path> svg = Optional.empty();

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description = "Write the report's data, which `djlplan report A.json B.json` compares.")
    private Optional<Path> json = Optional.empty();

    @Option(
            names = "--trace",
            paramLabel = "FILE",
            description = "Write a trace for Perfetto (ui.perfetto.dev) or chrome://tracing.")
    private Optional<Path> trace = Optional.empty();

    /**
     * Fails early, before minutes are spent.
     *
     * @throws Failure if a file cannot be written
     */
    void check(String modelName) throws IOException {
        for (Optional<Path> file : List.of(page(modelName), svg, json, trace)) {
            if (file.isPresent()) {
                WholeFile.check(file.get());
            }
        }
    }

    /** Returns whether only a page is requested. */
    boolean mayBeOnlyPage() {
        return svg.isEmpty() && json.isEmpty() && trace.isEmpty();
    }

    /** Returns the path of the page, if one is given. */
    Optional<Path> explicitPage() {
        return html;
    }

    /** Returns the path of the page, if a page is requested. */
    private Optional<Path> page(String modelName) {
        String name = modelName.substring(modelName.lastIndexOf('/') + 1);
        return html.isPresent() || !mayBeOnlyPage()
                ? html
                : Optional.of(Path.of(name.replaceAll("[^a-zA-Z0-9._-]", "-") + "-report.html"));
    }

    /** Writes the requested files, and prints their names. */
    void write(Report report, PrintWriter out) throws IOException {
        Optional<Path> page = page(report.model().name());
        String data = report.toJson() + "\n";
        Map<Path, String> contents = new LinkedHashMap<>();
        page.ifPresent(file -> contents.put(file, ReportFile.html(report.toJson())));
        svg.ifPresent(file -> contents.put(file, MapPicture.svg(report)));
        json.ifPresent(file -> contents.put(file, data));
        trace.ifPresent(file -> contents.put(file, ChromeTrace.of(report) + "\n"));
        for (Map.Entry<Path, String> file : contents.entrySet()) {
            WholeFile.write(file.getKey(), file.getValue());
        }
        page.ifPresent(file -> out.println("html: " + file));
        svg.ifPresent(file -> out.println("svg: " + file));
        json.ifPresent(file -> out.println("json: " + file));
        trace.ifPresent(file -> out.println("trace: " + file));
        out.flush();
    }
}
