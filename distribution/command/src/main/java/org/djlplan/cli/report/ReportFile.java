package org.djlplan.cli.report;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.djlplan.thirdparty.guava.io.Resources;

/**
 * A report as one self-contained HTML file. Its content security policy forbids all network access,
 * and all scripts and styles except its own; its data is text that no HTML parser interprets as
 * markup.
 */
public final class ReportFile {

    /** The scripts in order of their dependencies; they share one scope. */
    private static final List<String> SCRIPTS =
            List.of(
                    "units",
                    "dom",
                    "table",
                    "theme",
                    "data",
                    "scene",
                    "viewport",
                    "plans",
                    "painter",
                    "mappanel",
                    "mapview",
                    "chart",
                    "dotplot",
                    "band",
                    "delegation",
                    "budget",
                    "run",
                    "models",
                    "overview",
                    "compare",
                    "study",
                    "tabs",
                    "main");

    private static final Pattern PLACE = Pattern.compile("\\{\\{([a-z ]+)}}");

    /** Escapes {@code <} and other characters that could end a script. */
    private static final Gson JSON = new GsonBuilder().create();

    private ReportFile() {}

    /**
     * Returns the page's text, to be written in UTF-8.
     *
     * @param data a report; an object with two reports to compare in "reports"; or an object with a
     *     "study" of partitions
     */
    public static String html(JsonObject data) {
        String style = resource("uplot/uPlot.min.css") + resource("report.css");
        String script = script();
        Map<String, String> parts =
                Map.of(
                        "style", style,
                        "style hash", hash(style),
                        "script", script,
                        "script hash", hash(script),
                        "licence", escaped(resource("uplot/LICENSE")),
                        "data", JSON.toJson(data));
        return PLACE.matcher(resource("report.html"))
                .replaceAll(place -> Matcher.quoteReplacement(parts.get(place.group(1))));
    }

    private static String script() {
        String own =
                SCRIPTS.stream()
                        .map(name -> resource(name + ".js"))
                        .collect(Collectors.joining("\n"));
        String all =
                resource("uplot/uPlot.iife.min.js")
                        + "\n(() => {\n'use strict';\n"
                        + own
                        + "\n})();\n";
        checkState(!all.contains("</script") && !all.contains("<!--"), "script ends early");
        return all;
    }

    private static String resource(String name) {
        URL resource = Resources.getResource(ReportFile.class, name);
        try {
            // Line breaks as an HTML parser passes them on, because that text is hashed.
            return Resources.toString(resource, StandardCharsets.UTF_8).replace("\r\n", "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;");
    }

    private static String hash(String text) {
        try {
            byte[] digest =
                    MessageDigest.getInstance("SHA-256")
                            .digest(text.getBytes(StandardCharsets.UTF_8));
            return "'sha256-" + Base64.getEncoder().encodeToString(digest) + "'";
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
