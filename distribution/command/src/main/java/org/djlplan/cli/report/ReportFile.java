package org.djlplan.cli.report;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Base64;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.hash.Hashing;
import org.djlplan.thirdparty.guava.io.Resources;

/**
 * A report as one self-contained HTML file. Its content security policy forbids all network access,
 * and all scripts and styles except its own; its data is text that no HTML parser interprets as
 * markup.
 */
public final class ReportFile {

    /** The scripts, which share one scope; the last one starts. */
    private static final String SCRIPTS =
            "format dom table theme plans chart band map mapview overview delegation budget run"
                    + " models workers main";

    private static final Pattern PLACE = Pattern.compile("\\{\\{([a-z ]+)}}");

    /** Escapes {@code <} and other characters that could end a script. */
    private static final Gson ESCAPING = new Gson();

    private ReportFile() {}

    /**
     * Returns the page's text, to be written in UTF-8.
     *
     * @param data a report
     */
    public static String html(JsonElement data) {
        String style = resource("uplot/uPlot.min.css") + resource("report.css");
        String own =
                Splitter.on(' ')
                        .splitToStream(SCRIPTS)
                        .map(name -> resource(name + ".js"))
                        .collect(Collectors.joining("\n"));
        String library = resource("uplot/uPlot.iife.min.js");
        String script = library + "\n(() => {\n'use strict';\n" + own + "\n})();\n";
        checkState(!script.contains("</script") && !script.contains("<!--"), "script ends early");
        String licence = resource("uplot/LICENSE").replace("&", "&amp;").replace("<", "&lt;");
        Map<String, String> parts =
                Map.of(
                        "style",
                        style,
                        "style hash",
                        hash(style),
                        "script",
                        script,
                        "script hash",
                        hash(script),
                        "licence",
                        licence,
                        "data",
                        ESCAPING.toJson(data));
        return PLACE.matcher(resource("report.html"))
                .replaceAll(place -> Matcher.quoteReplacement(parts.get(place.group(1))));
    }

    private static String resource(String name) {
        try {
            // Line breaks as an HTML parser passes them on, because that text is hashed.
            return Resources.toString(Resources.getResource(ReportFile.class, name), UTF_8)
                    .replace("\r\n", "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String hash(String text) {
        byte[] digest = Hashing.sha256().hashString(text, UTF_8).asBytes();
        return "'sha256-" + Base64.getEncoder().encodeToString(digest) + "'";
    }
}
