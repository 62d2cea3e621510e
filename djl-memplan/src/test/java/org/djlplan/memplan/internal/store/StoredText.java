package org.djlplan.memplan.internal.store;

import static org.djlplan.memplan.internal.store.SampleTraces.FORMAT;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import org.djlplan.memplan.internal.budget.WeightTrace;

/** The text of a stored file, for tests that change it and then update its checksum. */
final class StoredText {

    private StoredText() {}

    static JsonObject of(StoreKey key, WeightTrace trace) {
        try {
            String text = new String(FORMAT.toBytes(key, trace), StandardCharsets.UTF_8);
            return JsonParser.parseString(text).getAsJsonObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the text with the checksum of its changed value. */
    static String withChecksum(JsonObject file) {
        try {
            file.addProperty("sha256", Format.sha256(file.get("weights").toString()));
            return file.toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the text of the small value with a part replaced. */
    static String with(String part, String value) {
        JsonObject file = of(SampleTraces.KEY, SampleTraces.small());
        file.get("weights").getAsJsonObject().add(part, JsonParser.parseString(value));
        return withChecksum(file);
    }
}
