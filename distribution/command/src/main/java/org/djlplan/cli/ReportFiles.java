package org.djlplan.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.djlplan.cli.report.ChromeTrace;
import org.djlplan.cli.report.MapPicture;
import org.djlplan.cli.report.Report;
import org.djlplan.cli.report.ReportFile;
import org.djlplan.thirdparty.guava.base.CharMatcher;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The output files of a report; each is written completely or left unchanged. */
final class ReportFiles {

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

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

    @Option(names = "--png", paramLabel = "FILE", hidden = true)
    private Optional<Path> png = Optional.empty();

    /**
     * Fails early, before minutes are spent.
     *
     * @throws Failure if a file cannot be written
     * @throws ParameterException if a picture is requested in another format than SVG
     */
    void check(String modelName) throws IOException {
        if (png.isPresent()) {
            throw new ParameterException(
                    spec.commandLine(), "--png: a memory map is drawn as SVG only, by --svg FILE");
        }
        for (Path file : all(modelName).values()) {
            WholeFile.check(file);
        }
    }

    /** Returns whether only a page is requested. */
    boolean mayBeOnlyPage() {
        return svg.isEmpty() && png.isEmpty() && json.isEmpty() && trace.isEmpty();
    }

    /** Returns the path of the page, if one is given. */
    Optional<Path> explicitPage() {
        return html;
    }

    private Map<String, Path> all(String modelName) {
        Map<String, Path> files = new LinkedHashMap<>();
        page(modelName).ifPresent(file -> files.put("html", file));
        svg.ifPresent(file -> files.put("svg", file));
        json.ifPresent(file -> files.put("json", file));
        trace.ifPresent(file -> files.put("trace", file));
        return files;
    }

    /** Returns the path of the page, if a page is requested. */
    private Optional<Path> page(String modelName) {
        if (html.isPresent() || !mayBeOnlyPage()) {
            return html;
        }
        String name = modelName.substring(modelName.lastIndexOf('/') + 1);
        String safe =
                CharMatcher.inRange('a', 'z')
                        .or(CharMatcher.inRange('A', 'Z'))
                        .or(CharMatcher.inRange('0', '9'))
                        .or(CharMatcher.anyOf("._-"))
                        .negate()
                        .replaceFrom(name, '-');
        return Optional.of(Path.of(safe + "-report.html"));
    }

    /**
     * Writes the requested files.
     *
     * @return the files, by kind
     */
    ImmutableMap<String, Path> write(Report report) throws IOException {
        Map<String, String> contents = new LinkedHashMap<>();
        Map<String, Path> files = all(report.model().name());
        for (String kind : files.keySet()) {
            contents.put(kind, content(kind, report));
        }
        for (Map.Entry<String, Path> file : files.entrySet()) {
            WholeFile.write(file.getValue(), contents.get(file.getKey()));
        }
        return ImmutableMap.copyOf(files);
    }

    private static String content(String kind, Report report) {
        return switch (kind) {
            case "html" -> ReportFile.html(report.toJson());
            case "svg" -> MapPicture.svg(report);
            case "json" -> report.toJson() + "\n";
            case "trace" -> ChromeTrace.of(report) + "\n";
            default -> throw new IllegalArgumentException(kind);
        };
    }
}
