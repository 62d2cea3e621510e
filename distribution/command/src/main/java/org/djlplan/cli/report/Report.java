package org.djlplan.cli.report;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.io.ByteStreams;

/**
 * A report on a model: its memory map, and parts that only the page reads.
 *
 * @param djlPlan version of djl-plan that made the report
 * @param machine facts about the machine that made the report, by key
 * @param plan the memory map
 * @param parts other parts by name, such as {@code run}
 */
public record Report(
        String djlPlan,
        Model model,
        Map<String, JsonElement> machine,
        MemoryMap plan,
        Map<String, JsonElement> parts) {

    private static final int FORMAT = 1;

    /** For comparison, a report of 20,000 tensors has 4 MB. */
    private static final int MOST_FILE_BYTES = 256 << 20;

    /** The parts other than the memory map. */
    private static final String[] PARTS = {
        "memory", "delegation", "budget", "models", "workers", "run"
    };

    /**
     * The model in the report.
     *
     * @param engine name of its engine; {@code records} for a file of usage records
     * @param view source of the records
     * @param bytes size of the model's file
     * @param sha256 of the model's file, in hexadecimal
     */
    public record Model(
            String name, String engine, String view, OptionalLong bytes, Optional<String> sha256) {}

    public Report {
        machine = ImmutableMap.copyOf(machine);
        parts = ImmutableMap.copyOf(parts);
    }

    /** Returns a memory map in the page's format, for parts that contain one. */
    public static JsonObject toJson(MemoryMap map) {
        return MemoryMapJson.write(map);
    }

    /** Returns the report in the format of the page and of {@link #read}. */
    public JsonObject toJson() {
        JsonObject json = new JsonObject();
        json.addProperty("format", FORMAT);
        json.addProperty("djlPlan", djlPlan);
        json.addProperty("title", model.name());
        JsonObject of = new JsonObject();
        of.addProperty("name", model.name());
        of.addProperty("engine", model.engine());
        of.addProperty("view", model.view());
        model.bytes().ifPresent(bytes -> of.addProperty("bytes", bytes));
        model.sha256().ifPresent(hash -> of.addProperty("sha256", hash));
        json.add("model", of);
        JsonObject on = new JsonObject();
        machine.forEach(on::add);
        json.add("machine", on);
        json.add(MemoryMapJson.PART, MemoryMapJson.write(plan));
        parts.forEach(json::add);
        return json;
    }

    /**
     * Reads a file written by {@link #toJson}, validating everything.
     *
     * @throws ReportFormatException if it is not a report; the message is one line
     * @throws IOException if it cannot be read
     */
    public static Report read(Path file) throws IOException {
        byte[] bytes;
        try (InputStream in = Files.newInputStream(file)) {
            bytes = ByteStreams.limit(in, MOST_FILE_BYTES + 1L).readAllBytes();
        }
        if (bytes.length > MOST_FILE_BYTES) {
            throw new ReportFormatException("the file", "is larger than 256 MiB");
        }
        return parse(bytes);
    }

    /**
     * Parses the bytes of a report.
     *
     * @throws ReportFormatException if they are not a report
     */
    static Report parse(byte[] bytes) {
        try {
            String text =
                    StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
            return of(JsonParser.parseString(text));
        } catch (CharacterCodingException e) {
            throw new ReportFormatException("the file", "is no text in UTF-8");
        } catch (JsonParseException e) {
            throw new ReportFormatException("the file", "is no JSON");
        }
    }

    private static Report of(JsonElement element) {
        Fields json = Fields.of("", element);
        if (json.count("format") != FORMAT) {
            throw new ReportFormatException("format", "is not " + FORMAT);
        }
        Fields of = json.object("model");
        Model model =
                new Model(
                        of.text("name"),
                        of.text("engine"),
                        of.text("view"),
                        of.optional("bytes").isPresent()
                                ? OptionalLong.of(of.count("bytes"))
                                : OptionalLong.empty(),
                        of.optionalText("sha256"));
        ImmutableMap.Builder<String, JsonElement> parts = ImmutableMap.builder();
        for (String part : PARTS) {
            json.optional(part).ifPresent(value -> parts.put(part, value));
        }
        Map<String, JsonElement> machine =
                json.optional("machine")
                        .map(value -> json.object("machine").primitives())
                        .orElse(Map.of());
        return new Report(
                json.text("djlPlan"),
                model,
                machine,
                MemoryMapJson.read(json.object(MemoryMapJson.PART)),
                parts.buildOrThrow());
    }
}
