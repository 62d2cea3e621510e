package org.djlplan.memplan.internal.store;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;

/**
 * Replaces, removes or repeats one part of a JSON text; {@code place} is taken modulo the number of
 * parts.
 */
record JsonChange(int place, int kind, String value) {

    /** Values that are likely to break a reader of the JSON text. */
    private static final List<String> VALUES =
            List.of(
                    "null",
                    "true",
                    "\"\"",
                    "\"7\"",
                    "-1",
                    "0",
                    "1",
                    "63",
                    "64",
                    "1.5",
                    "1e3",
                    "2147483647",
                    "2147483648",
                    "9223372036854775807",
                    "9223372036854775808",
                    "-9223372036854775808",
                    "1e400",
                    "[]",
                    "{}",
                    "[[]]",
                    "[0]",
                    "[-1,-1,-1,-1]",
                    "[0,1,2,3]",
                    "{\"version\":1}");

    /** Returns one to three random changes. */
    static Arbitrary<List<JsonChange>> some() {
        return Combinators.combine(
                        Arbitraries.integers(),
                        Arbitraries.integers().between(0, 5),
                        Arbitraries.of(VALUES))
                .as(JsonChange::new)
                .list()
                .ofMinSize(1)
                .ofMaxSize(3);
    }

    void applyTo(JsonObject text) {
        List<Runnable> places = new ArrayList<>();
        collect(text, places);
        if (!places.isEmpty()) {
            places.get(Math.floorMod(place, places.size())).run();
        }
    }

    private void collect(JsonElement element, List<Runnable> places) {
        if (element instanceof JsonObject object) {
            for (String name : object.keySet()) {
                JsonElement child = object.get(name);
                places.add(() -> change(object, name));
                collect(child, places);
            }
        } else if (element instanceof JsonArray array) {
            for (int i = 0; i < array.size(); i++) {
                int index = i;
                places.add(() -> change(array, index));
                collect(array.get(i), places);
            }
        }
    }

    private void change(JsonObject object, String name) {
        switch (kind) {
            case 0 -> object.remove(name);
            case 1 -> object.add(name + "'", object.get(name));
            default -> object.add(name, JsonParser.parseString(value));
        }
    }

    private void change(JsonArray array, int index) {
        switch (kind) {
            case 0 -> array.remove(index);
            case 1 -> array.add(array.get(index));
            default -> array.set(index, JsonParser.parseString(value));
        }
    }
}
