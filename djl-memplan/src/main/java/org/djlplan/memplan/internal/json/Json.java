package org.djlplan.memplan.internal.json;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.TypeAdapter;
import com.google.gson.TypeAdapterFactory;
import com.google.gson.reflect.TypeToken;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Maps records to JSON: for users, and between a command's processes. Empty values and numbers that
 * are not finite are null.
 */
public final class Json {

    private static final TypeAdapter<Double> FINITE =
            adapter(
                    each -> Double.isFinite(each) ? each : null,
                    () -> Double.POSITIVE_INFINITY,
                    JsonReader::nextDouble);
    private static final Gson WITH_NULLS = builder().serializeNulls().create();
    private static final Gson WITHOUT_NULLS = builder().create();

    private Json() {}

    private static GsonBuilder builder() {
        return new GsonBuilder()
                .disableHtmlEscaping()
                .registerTypeAdapterFactory(new OfOptionals())
                .registerTypeAdapter(
                        OptionalInt.class,
                        adapter(
                                each -> each.isPresent() ? each.getAsInt() : null,
                                OptionalInt::empty,
                                in -> OptionalInt.of(in.nextInt())))
                .registerTypeAdapter(
                        OptionalLong.class,
                        adapter(
                                each -> each.isPresent() ? each.getAsLong() : null,
                                OptionalLong::empty,
                                in -> OptionalLong.of(in.nextLong())))
                .registerTypeAdapter(
                        OptionalDouble.class,
                        adapter(
                                each -> each.isPresent() ? each.getAsDouble() : null,
                                OptionalDouble::empty,
                                in -> OptionalDouble.of(in.nextDouble())))
                .registerTypeAdapter(double.class, FINITE)
                .registerTypeAdapter(Double.class, FINITE);
    }

    /** Returns a value as JSON, with null for empty parts. */
    public static JsonElement tree(Object value) {
        return WITH_NULLS.toJsonTree(value);
    }

    /** Returns a value as JSON, without empty parts. */
    public static JsonElement sparse(Object value) {
        return WITHOUT_NULLS.toJsonTree(value);
    }

    /** Reads what {@link #tree} returns. */
    public static <T> T read(JsonElement json, TypeToken<T> type) {
        return WITH_NULLS.fromJson(json, type);
    }

    /** Reads a value that is there. */
    @FunctionalInterface
    private interface Reading<T> {
        T read(JsonReader in) throws IOException;
    }

    private static <T> TypeAdapter<T> adapter(
            Function<T, Number> number, Supplier<T> absent, Reading<T> reading) {
        return new TypeAdapter<>() {
            @Override
            public void write(JsonWriter out, T value) throws IOException {
                out.value(number.apply(value));
            }

            @Override
            public T read(JsonReader in) throws IOException {
                if (in.peek() == JsonToken.NULL) {
                    in.nextNull();
                    return absent.get();
                }
                return reading.read(in);
            }
        };
    }

    /** Maps {@link Optional}. */
    private static final class OfOptionals implements TypeAdapterFactory {

        @Override
        @SuppressWarnings("unchecked")
        public <T> TypeAdapter<T> create(Gson gson, TypeToken<T> type) {
            if (type.getRawType() != Optional.class) {
                return null;
            }
            Type of =
                    type.getType() instanceof ParameterizedType optional
                            ? optional.getActualTypeArguments()[0]
                            : Object.class;
            return (TypeAdapter<T>) of(gson, of);
        }

        private static TypeAdapter<Optional<?>> of(Gson gson, Type of) {
            return new TypeAdapter<>() {
                @Override
                public void write(JsonWriter out, Optional<?> value) throws IOException {
                    if (value.isPresent()) {
                        gson.toJson(gson.toJsonTree(value.get()), out);
                    } else {
                        out.nullValue();
                    }
                }

                @Override
                public Optional<?> read(JsonReader in) throws IOException {
                    return Optional.ofNullable(gson.fromJson(in, of));
                }
            };
        }
    }
}
