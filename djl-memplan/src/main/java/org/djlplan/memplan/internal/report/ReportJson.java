package org.djlplan.memplan.internal.report;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonNull;
import com.google.gson.JsonPrimitive;
import com.google.gson.JsonSerializer;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Writes reports as JSON: the components of their records, without empty values and numbers that
 * are not finite.
 */
public final class ReportJson {

    private static final JsonSerializer<Optional<?>> OPTIONAL =
            (value, type, context) ->
                    value.isPresent() ? context.serialize(value.get()) : JsonNull.INSTANCE;

    private static final JsonSerializer<OptionalLong> OPTIONAL_LONG =
            (value, type, context) ->
                    value.isPresent() ? new JsonPrimitive(value.getAsLong()) : JsonNull.INSTANCE;

    /** JSON has no infinite numbers. */
    private static final JsonSerializer<Double> FINITE =
            (value, type, context) ->
                    Double.isFinite(value) ? new JsonPrimitive(value) : JsonNull.INSTANCE;

    private static final Gson GSON =
            new GsonBuilder()
                    .registerTypeAdapter(Optional.class, OPTIONAL)
                    .registerTypeAdapter(OptionalLong.class, OPTIONAL_LONG)
                    .registerTypeAdapter(double.class, FINITE)
                    .disableHtmlEscaping()
                    .create();

    private ReportJson() {}

    /** Returns a report as a JSON object. */
    public static String of(Record report) {
        return GSON.toJson(report);
    }
}
