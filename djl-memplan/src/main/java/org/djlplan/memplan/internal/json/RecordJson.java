package org.djlplan.memplan.internal.json;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonParseException;
import com.google.gson.TypeAdapter;
import com.google.gson.TypeAdapterFactory;
import com.google.gson.reflect.TypeToken;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/**
 * Maps records to JSON and back. A record is an object with a member for each component, in order.
 * A record that implements a sealed interface is within another object, as the only member, under
 * the name of its class. An empty {@link Optional} is null. Fractions are strings, because JSON has
 * no infinite numbers.
 *
 * <p>A text may contain anything: each record is read through its own constructor, and members that
 * are missing, null or unknown are errors. Methods that read throw an {@link IOException} or a
 * {@link RuntimeException} if the text does not match the type.
 *
 * <p>Gson's own adapter for records does not suffice, because an application may bring an older
 * Gson, and because it accepts records without some of their members.
 */
public final class RecordJson {

    private static final Gson GSON =
            new GsonBuilder()
                    .registerTypeAdapterFactory(new Factory())
                    .serializeNulls()
                    .disableHtmlEscaping()
                    .create();

    private RecordJson() {}

    /** Returns a record as text in one line. */
    public static String text(Record value) {
        return GSON.toJson(value);
    }

    /** Returns a value as JSON. */
    public static JsonElement tree(Object value) {
        return GSON.toJsonTree(value);
    }

    /** Reads the next value, which is of the given type. */
    public static <T> T read(JsonReader json, Class<T> type) throws IOException {
        return required(GSON.getAdapter(type).read(json), type.getSimpleName());
    }

    /** Returns the value of a type that JSON represents. */
    public static <T> T read(JsonElement json, Class<T> type) {
        return required(GSON.getAdapter(type).fromJsonTree(json), type.getSimpleName());
    }

    private static <T> T required(T value, String name) {
        if (value == null) {
            throw new JsonParseException("no " + name);
        }
        return value;
    }

    /** Makes the adapters of types for which Gson has none, or one that does not suffice. */
    private static final class Factory implements TypeAdapterFactory {

        @Override
        @SuppressWarnings("unchecked")
        public <T> TypeAdapter<T> create(Gson gson, TypeToken<T> type) {
            return (TypeAdapter<T>) adapter(gson, type);
        }

        private static TypeAdapter<?> adapter(Gson gson, TypeToken<?> type) {
            Class<?> raw = type.getRawType();
            if (raw.isInterface() && raw.isSealed()) {
                return new SealedTypes(gson, raw.getPermittedSubclasses());
            }
            if (raw.isRecord()) {
                boolean named = Arrays.stream(raw.getInterfaces()).anyMatch(Class::isSealed);
                return named ? new SealedTypes(gson, raw) : new Records<>(gson, raw);
            }
            TypeAdapter<String> text = gson.getAdapter(String.class);
            if (raw == Optional.class) {
                Type element = ((ParameterizedType) type.getType()).getActualTypeArguments()[0];
                return optional(gson.getAdapter(TypeToken.get(element)));
            }
            if (raw == OptionalDouble.class) {
                return converted(text, Factory::text, Factory::optionalDouble);
            }
            if (raw == double.class) {
                return converted(text, (Double number) -> number.toString(), Double::valueOf);
            }
            if (raw == ImmutableLongArray.class) {
                return converted(
                        gson.getAdapter(long[].class),
                        ImmutableLongArray::toArray,
                        ImmutableLongArray::copyOf);
            }
            if (Path.class.isAssignableFrom(raw)) {
                return converted(text, Path::toString, Path::of);
            }
            return ByteBuffer.class.isAssignableFrom(raw)
                    ? converted(text, Factory::base64, Factory::buffer)
                    : null;
        }

        private static <E> TypeAdapter<Optional<E>> optional(TypeAdapter<E> element) {
            return new TypeAdapter<>() {
                @Override
                public void write(JsonWriter json, Optional<E> value) throws IOException {
                    element.nullSafe().write(json, value.orElse(null));
                }

                @Override
                public Optional<E> read(JsonReader json) throws IOException {
                    if (json.peek() == JsonToken.NULL) {
                        json.nextNull();
                        return Optional.empty();
                    }
                    return Optional.of(element.read(json));
                }
            };
        }

        private static String text(OptionalDouble number) {
            return number.isPresent() ? Double.toString(number.getAsDouble()) : "";
        }

        private static OptionalDouble optionalDouble(String text) {
            return text.isEmpty()
                    ? OptionalDouble.empty()
                    : OptionalDouble.of(Double.parseDouble(text));
        }

        private static String base64(ByteBuffer values) {
            byte[] bytes = new byte[values.remaining()];
            values.duplicate().get(bytes);
            return Base64.getEncoder().encodeToString(bytes);
        }

        private static ByteBuffer buffer(String text) {
            return ByteBuffer.wrap(Base64.getDecoder().decode(text));
        }

        /** Returns the adapter of a type whose values are written as values of another type. */
        private static <T, R> TypeAdapter<T> converted(
                TypeAdapter<R> as, Function<T, R> write, Function<R, T> read) {
            return new TypeAdapter<>() {
                @Override
                public void write(JsonWriter json, T value) throws IOException {
                    as.write(json, write.apply(value));
                }

                @Override
                public T read(JsonReader json) throws IOException {
                    return read.apply(as.read(json));
                }
            };
        }
    }

    @SuppressWarnings("unchecked")
    private static TypeAdapter<Object> erased(TypeAdapter<?> adapter) {
        return (TypeAdapter<Object>) adapter;
    }

    /** Records of one class. */
    private static final class Records<T> extends TypeAdapter<T> {

        private final Map<RecordComponent, TypeAdapter<Object>> components = new LinkedHashMap<>();
        private final Constructor<T> constructor;

        Records(Gson gson, Class<T> type) {
            RecordComponent[] all = type.getRecordComponents();
            for (RecordComponent each : all) {
                each.getAccessor().setAccessible(true);
                components.put(each, erased(gson.getAdapter(TypeToken.get(each.getGenericType()))));
            }
            try {
                constructor =
                        type.getDeclaredConstructor(
                                Arrays.stream(all)
                                        .map(RecordComponent::getType)
                                        .toArray(Class<?>[]::new));
                constructor.setAccessible(true);
            } catch (NoSuchMethodException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void write(JsonWriter json, T value) throws IOException {
            json.beginObject();
            for (Map.Entry<RecordComponent, TypeAdapter<Object>> each : components.entrySet()) {
                json.name(each.getKey().getName());
                try {
                    each.getValue().write(json, each.getKey().getAccessor().invoke(value));
                } catch (ReflectiveOperationException e) {
                    throw new IllegalStateException(e);
                }
            }
            json.endObject();
        }

        @Override
        public T read(JsonReader json) throws IOException {
            Object[] values = new Object[components.size()];
            int count = 0;
            json.beginObject();
            for (Map.Entry<RecordComponent, TypeAdapter<Object>> each : components.entrySet()) {
                String expected = each.getKey().getName();
                String name = json.nextName();
                if (!name.equals(expected)) {
                    throw new JsonParseException(name + " in place of " + expected);
                }
                values[count++] = required(each.getValue().read(json), name);
            }
            json.endObject();
            try {
                return constructor.newInstance(values);
            } catch (InvocationTargetException e) {
                throw new JsonParseException(String.valueOf(e.getCause()), e.getCause());
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Records of some classes that implement a sealed interface. */
    private static final class SealedTypes extends TypeAdapter<Object> {

        private final Gson gson;
        private final Map<String, Class<?>> byName = new HashMap<>();
        private final Map<Class<?>, TypeAdapter<Object>> adapters = new ConcurrentHashMap<>();

        SealedTypes(Gson gson, Class<?>... types) {
            this.gson = gson;
            for (Class<?> each : types) {
                byName.put(each.getSimpleName(), each);
            }
        }

        /** Makes an adapter when it is needed, because a process may lack classes of another. */
        private TypeAdapter<Object> adapter(Class<?> type) {
            return adapters.computeIfAbsent(type, t -> erased(new Records<>(gson, t)));
        }

        @Override
        public void write(JsonWriter json, Object value) throws IOException {
            json.beginObject().name(value.getClass().getSimpleName());
            adapter(value.getClass()).write(json, value);
            json.endObject();
        }

        @Override
        public Object read(JsonReader json) throws IOException {
            json.beginObject();
            String name = json.nextName();
            Object value = adapter(required(byName.get(name), "type " + name)).read(json);
            json.endObject();
            return value;
        }
    }
}
