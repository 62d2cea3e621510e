package org.djlplan.cli.report;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.BiFunction;
import org.djlplan.thirdparty.guava.collect.Maps;

/** Reads an object of a report that may have been edited by hand, and checks every value. */
final class Fields {

    /** A tensor's name may be long, but has a limit. */
    private static final int LONGEST_TEXT = 1 << 20;

    private final String path;
    private final JsonObject object;

    private Fields(String path, JsonObject object) {
        this.path = path;
        this.object = object;
    }

    /**
     * Returns the fields of an object.
     *
     * @param path of the object; empty for the report itself
     * @throws ReportFormatException if the element is not an object
     */
    static Fields of(String path, JsonElement element) {
        if (!element.isJsonObject()) {
            throw new ReportFormatException(path.isEmpty() ? "the file" : path, "is no object");
        }
        return new Fields(path, element.getAsJsonObject());
    }

    private String at(String name) {
        return path.isEmpty() ? name : path + "." + name;
    }

    /** Returns a value; empty if it is absent or null. */
    Optional<JsonElement> optional(String name) {
        return Optional.ofNullable(object.get(name)).filter(value -> !value.isJsonNull());
    }

    private JsonElement required(String name) {
        return optional(name).orElseThrow(() -> new ReportFormatException(at(name), "is missing"));
    }

    /** Returns the values that are strings, numbers or booleans, by their names. */
    Map<String, JsonElement> primitives() {
        return Maps.filterValues(object.asMap(), JsonElement::isJsonPrimitive);
    }

    Fields object(String name) {
        return of(at(name), required(name));
    }

    String text(String name) {
        return text(at(name), required(name));
    }

    Optional<String> optionalText(String name) {
        return optional(name).map(value -> text(at(name), value));
    }

    boolean bool(String name) {
        if (required(name) instanceof JsonPrimitive value && value.isBoolean()) {
            return value.getAsBoolean();
        }
        throw new ReportFormatException(at(name), "is neither true nor false");
    }

    /** Returns a finite, non-negative number. */
    double amount(String name) {
        double value = decimal(at(name), required(name)).doubleValue();
        if (value >= 0 && value <= Double.MAX_VALUE) {
            return value;
        }
        throw new ReportFormatException(at(name), "is no amount: " + value);
    }

    /** Returns a non-negative integer. */
    long count(String name) {
        return count(at(name), required(name));
    }

    /** Returns an integer from 0 up to a limit, exclusive. */
    int index(String name, int limit) {
        return index(at(name), required(name), limit);
    }

    OptionalInt optionalIndex(String name, int limit) {
        Optional<JsonElement> value = optional(name);
        return value.isEmpty()
                ? OptionalInt.empty()
                : OptionalInt.of(index(at(name), value.get(), limit));
    }

    /**
     * Returns the results of a reader for each element of an array.
     *
     * @param most largest number of elements
     * @param reader gets the path of the element, and the element
     */
    <T> List<T> list(String name, int most, BiFunction<String, JsonElement, T> reader) {
        if (!(required(name) instanceof JsonArray array)) {
            throw new ReportFormatException(at(name), "is no list");
        }
        if (array.size() > most) {
            throw new ReportFormatException(
                    at(name), "has " + array.size() + " entries, more than " + most);
        }
        List<T> list = new ArrayList<>(array.size());
        for (int i = 0; i < array.size(); i++) {
            list.add(reader.apply(at(name) + "[" + i + "]", array.get(i)));
        }
        return list;
    }

    static String text(String where, JsonElement element) {
        if (!(element instanceof JsonPrimitive value) || !value.isString()) {
            throw new ReportFormatException(where, "is no text");
        }
        if (value.getAsString().length() > LONGEST_TEXT) {
            throw new ReportFormatException(where, "is a text of more than a million characters");
        }
        return value.getAsString();
    }

    static long count(String where, JsonElement element) {
        try {
            long value = decimal(where, element).longValueExact();
            if (value >= 0) {
                return value;
            }
        } catch (ArithmeticException e) {
            throw new ReportFormatException(where, "is not a 64-bit integer");
        }
        throw new ReportFormatException(where, "is negative");
    }

    static int index(String where, JsonElement element, int limit) {
        long value = count(where, element);
        if (value >= limit) {
            throw new ReportFormatException(where, "is " + value + ", not below " + limit);
        }
        return (int) value;
    }

    private static BigDecimal decimal(String where, JsonElement element) {
        if (element instanceof JsonPrimitive value && value.isNumber()) {
            String digits = value.getAsString();
            // A number with an exponent of millions would be written out with millions of digits.
            if (digits.length() <= 40) {
                try {
                    BigDecimal number = new BigDecimal(digits);
                    if (Math.abs((long) number.scale()) <= 400) {
                        return number;
                    }
                } catch (NumberFormatException e) {
                    throw new ReportFormatException(where, "is no number");
                }
            }
        }
        throw new ReportFormatException(where, "is no number");
    }
}
