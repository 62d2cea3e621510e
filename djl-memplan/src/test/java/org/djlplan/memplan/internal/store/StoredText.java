package org.djlplan.memplan.internal.store;

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
        return of(SampleTraces.FORMAT, key, trace);
    }

    static <T> JsonObject of(StoredFile<T> format, StoreKey key, T value) {
        try {
            String text = new String(format.toBytes(key, value), StandardCharsets.UTF_8);
            return JsonParser.parseString(text).getAsJsonObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the text with the checksum of its changed value. */
    static String withChecksum(JsonObject file) {
        return withChecksum(file, "weights");
    }

    /** Returns the text with the checksum of its changed value of a kind. */
    static String withChecksum(JsonObject file, String kind) {
        try {
            file.addProperty("sha256", StoredFile.sha256(file.get(kind).toString()));
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
