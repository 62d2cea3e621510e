package org.djlplan.cli.report;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonDeserializer;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonSerializer;
import com.google.gson.stream.JsonReader;
import java.io.IOException;
import java.io.StringReader;
import java.lang.reflect.ParameterizedType;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.thirdparty.guava.base.Throwables;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.Maps;

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
    private static final long MOST_FILE_BYTES = 256L << 20;

    /** The largest number of offsets, in all plans of a map together, that a page can hold. */
    private static final int MOST_OFFSETS = 400_000;

    /** The parts other than the memory map. */
    private static final List<String> PARTS =
            List.of("memory", "delegation", "budget", "models", "workers", "run");

    private static final JsonSerializer<Optional<?>> OPTIONAL =
            (value, type, context) ->
                    value.isPresent() ? context.serialize(value.get()) : JsonNull.INSTANCE;

    private static final JsonDeserializer<Optional<?>> TO_OPTIONAL =
            (json, type, context) ->
                    Optional.of(
                            context.deserialize(
                                    json, ((ParameterizedType) type).getActualTypeArguments()[0]));

    private static final Gson GSON =
            new GsonBuilder()
                    .registerTypeAdapter(Optional.class, OPTIONAL)
                    .registerTypeAdapter(Optional.class, TO_OPTIONAL)
                    .create();

    /**
     * The model in the report.
     *
     * @param engine name of its engine; {@code records} for a file of usage records
     * @param view source of the records
     * @param bytes size of the model's file
     * @param sha256 of the model's file, in hexadecimal
     */
    public record Model(
            String name,
            String engine,
            String view,
            Optional<Long> bytes,
            Optional<String> sha256) {

        public Model {
            if (name == null || engine == null || view == null) {
                throw new IllegalArgumentException("a model without a name, engine or view");
            }
        }
    }

    /** The values of a report's file that this class reads. */
    private record Content(
            int format,
            String djlPlan,
            String title,
            Model model,
            Map<String, JsonElement> machine,
            MemoryMap plan) {}

    public Report {
        machine = ImmutableMap.copyOf(machine);
        parts = ImmutableMap.copyOf(parts);
    }

    /**
     * Returns a memory map in the page's format. If there are very many tensors, only the most
     * interesting plans have offsets.
     */
    public static JsonElement toJson(MemoryMap map) {
        return GSON.toJsonTree(map.withOffsets(MOST_OFFSETS));
    }

    /** Returns the report in the format of the page and of {@link #read}. */
    public JsonObject toJson() {
        MemoryMap shown = plan.withOffsets(MOST_OFFSETS);
        Content content = new Content(FORMAT, djlPlan, model.name(), model, machine, shown);
        JsonObject json = GSON.toJsonTree(content).getAsJsonObject();
        parts.forEach(json::add);
        return json;
    }

    /**
     * Reads a file written by {@link #toJson}, validating the memory map.
     *
     * @throws ReportFormatException if it is not a report; the message is one line
     * @throws IOException if it cannot be read
     */
    public static Report read(Path file) throws IOException {
        if (Files.size(file) > MOST_FILE_BYTES) {
            throw new ReportFormatException("the file is larger than 256 MiB");
        }
        try {
            return parse(Files.readString(file));
        } catch (CharacterCodingException e) {
            throw new ReportFormatException("the file is no text in UTF-8");
        }
    }

    /**
     * Parses the text of a report.
     *
     * @throws ReportFormatException if it is not a report
     */
    static Report parse(String text) {
        JsonReader reader = new JsonReader(new StringReader(text));
        JsonObject json;
        Content content;
        try {
            content = GSON.fromJson(reader, Content.class);
            json = GSON.fromJson(text, JsonObject.class);
        } catch (RuntimeException e) {
            // Gson wraps the exceptions of a record's constructor.
            throw new ReportFormatException(
                    reader.getPreviousPath() + ": " + Throwables.getRootCause(e).getMessage());
        }
        if (json == null || content.format() != FORMAT) {
            throw new ReportFormatException("its format is not " + FORMAT);
        }
        if (content.djlPlan() == null || content.model() == null || content.plan() == null) {
            throw new ReportFormatException("djlPlan, model or plan is missing");
        }
        return new Report(
                content.djlPlan(),
                content.model(),
                content.machine() == null
                        ? Map.of()
                        : Maps.filterValues(content.machine(), JsonElement::isJsonPrimitive),
                content.plan(),
                Maps.filterKeys(json.asMap(), PARTS::contains));
    }
}
