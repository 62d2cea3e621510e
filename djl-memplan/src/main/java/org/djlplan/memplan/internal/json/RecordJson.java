package org.djlplan.memplan.internal.json;

import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.ConcurrentHashMap;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;
import org.djlplan.thirdparty.guava.primitives.Longs;

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
 * <p>Files need only Gson's reader and writer. Its adapters are many classes, for which a first
 * load would wait; and an application may bring an older Gson, whose adapters know no records.
 */
public final class RecordJson {

    private static final Map<Class<?>, Parts> PARTS = new ConcurrentHashMap<>();

    private RecordJson() {}

    /** Returns a value as text in one line. */
    public static String text(Object value) {
        StringWriter text = new StringWriter();
        try {
            write(new JsonWriter(text), value);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }

    /** Returns a value as JSON. */
    public static JsonElement tree(Object value) {
        return JsonParser.parseString(text(value));
    }

    /** Reads the next value, which is of the given type. */
    public static <T> T read(JsonReader json, Class<T> type) throws IOException {
        return type.cast(value(json, type));
    }

    /** Returns the value of a type that JSON represents. */
    public static <T> T read(JsonElement json, Class<T> type) {
        try {
            return read(new JsonReader(new StringReader(json.toString())), type);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A class of records, perhaps written under its name, with its components in order. */
    private record Parts(boolean named, Constructor<?> constructor, List<Method> accessors) {

        static Parts of(Class<?> type) {
            List<Method> accessors = new ArrayList<>();
            List<Class<?>> types = new ArrayList<>();
            for (RecordComponent each : type.getRecordComponents()) {
                Method accessor = each.getAccessor();
                accessor.setAccessible(true);
                accessors.add(accessor);
                types.add(each.getType());
            }
            try {
                Constructor<?> constructor =
                        type.getDeclaredConstructor(types.toArray(new Class<?>[0]));
                constructor.setAccessible(true);
                boolean named = Arrays.stream(type.getInterfaces()).anyMatch(Class::isSealed);
                return new Parts(named, constructor, accessors);
            } catch (NoSuchMethodException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private static Parts parts(Class<?> type) {
        return PARTS.computeIfAbsent(type, Parts::of);
    }

    private static void write(JsonWriter json, Object value) throws IOException {
        if (value instanceof Record each && parts(value.getClass()).named()) {
            writeMembers(json.beginObject().name(value.getClass().getSimpleName()), each);
            json.endObject();
        } else if (value instanceof Record each) {
            writeMembers(json, each);
        } else if (value instanceof Optional<?> each && each.isPresent()) {
            write(json, each.get());
        } else if (value instanceof Optional<?>) {
            json.nullValue();
        } else if (value instanceof Map<?, ?> each) {
            json.beginObject();
            for (Map.Entry<?, ?> entry : each.entrySet()) {
                write(json.name(entry.getKey().toString()), entry.getValue());
            }
            json.endObject();
        } else if (value instanceof ImmutableLongArray each) {
            write(json, each.asList());
        } else if (value instanceof long[] each) {
            write(json, Longs.asList(each));
        } else if (value instanceof Iterable<?> each && !(value instanceof Path)) {
            json.beginArray();
            for (Object element : each) {
                write(json, element);
            }
            json.endArray();
        } else if (value instanceof ByteBuffer each) {
            byte[] bytes = new byte[each.remaining()];
            each.duplicate().get(bytes);
            json.value(Base64.getEncoder().encodeToString(bytes));
        } else if (value instanceof OptionalDouble each) {
            json.value(each.isPresent() ? Double.toString(each.getAsDouble()) : "");
        } else if (value instanceof Integer || value instanceof Long) {
            json.value((Number) value);
        } else if (value instanceof Boolean each) {
            json.value(each);
        } else {
            json.value(value instanceof Enum<?> each ? each.name() : value.toString());
        }
    }

    private static void writeMembers(JsonWriter json, Record value) throws IOException {
        json.beginObject();
        for (Method each : parts(value.getClass()).accessors()) {
            try {
                write(json.name(each.getName()), each.invoke(value));
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
        json.endObject();
    }

    private static Object value(JsonReader json, Type type) throws IOException {
        if (type instanceof ParameterizedType generic) {
            Type[] arguments = generic.getActualTypeArguments();
            return value(json, generic.getRawType(), arguments[arguments.length - 1]);
        }
        Class<?> raw = (Class<?>) type;
        if (raw.isInterface() && raw.isSealed()) {
            return named(json, raw.getPermittedSubclasses());
        } else if (raw.isRecord()) {
            return parts(raw).named() ? named(json, raw) : members(json, raw);
        } else if (raw == int.class || raw == Integer.class) {
            return json.nextInt();
        } else if (raw == long.class || raw == Long.class) {
            return json.nextLong();
        } else if (raw == boolean.class) {
            return json.nextBoolean();
        } else if (raw == ImmutableLongArray.class) {
            return ImmutableLongArray.copyOf((long[]) value(json, long[].class));
        } else if (raw.isArray()) {
            List<Object> all = elements(json, raw.getComponentType());
            Object array = Array.newInstance(raw.getComponentType(), all.size());
            for (int i = 0; i < all.size(); i++) {
                Array.set(array, i, all.get(i));
            }
            return array;
        }
        return parsed(json.nextString(), raw);
    }

    private static Object parsed(String text, Class<?> type) {
        if (type == String.class) {
            return text;
        } else if (type == double.class) {
            return Double.valueOf(text);
        } else if (type == OptionalDouble.class && text.isEmpty()) {
            return OptionalDouble.empty();
        } else if (type == OptionalDouble.class) {
            return OptionalDouble.of(Double.parseDouble(text));
        } else if (type == Path.class) {
            return Path.of(text);
        } else if (type == ByteBuffer.class) {
            return ByteBuffer.wrap(Base64.getDecoder().decode(text));
        }
        return Arrays.stream(type.getEnumConstants())
                .filter(each -> ((Enum<?>) each).name().equals(text))
                .findFirst()
                .orElseThrow();
    }

    /** Reads a value of a generic type, whose last argument is the type of its elements. */
    private static Object value(JsonReader json, Type raw, Type element) throws IOException {
        if (raw == Optional.class) {
            if (json.peek() == JsonToken.NULL) {
                json.nextNull();
                return Optional.empty();
            }
            return Optional.of(value(json, element));
        } else if (raw == Map.class) {
            Map<String, Object> all = new LinkedHashMap<>();
            json.beginObject();
            while (json.hasNext()) {
                String name = json.nextName();
                if (all.put(name, value(json, element)) != null) {
                    throw new IllegalArgumentException("two values of " + name);
                }
            }
            json.endObject();
            return all;
        }
        List<Object> all = elements(json, element);
        // The only sets are of numbers. Empty ones take no memory, however many a text has.
        return raw == List.class ? all : ImmutableSortedSet.copyOf(all.toArray(new Integer[0]));
    }

    private static List<Object> elements(JsonReader json, Type type) throws IOException {
        List<Object> all = new ArrayList<>();
        json.beginArray();
        while (json.hasNext()) {
            all.add(value(json, type));
        }
        json.endArray();
        return all;
    }

    private static Object members(JsonReader json, Class<?> type) throws IOException {
        List<Object> values = new ArrayList<>();
        json.beginObject();
        for (Method each : parts(type).accessors()) {
            String name = json.nextName();
            if (!name.equals(each.getName())) {
                throw new IllegalArgumentException(name + " in place of " + each.getName());
            }
            values.add(value(json, each.getGenericReturnType()));
        }
        json.endObject();
        try {
            return parts(type).constructor().newInstance(values.toArray());
        } catch (InvocationTargetException e) {
            throw new IllegalArgumentException(String.valueOf(e.getCause()), e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Object named(JsonReader json, Class<?>... types) throws IOException {
        json.beginObject();
        String name = json.nextName();
        Class<?> type =
                Arrays.stream(types)
                        .filter(each -> each.getSimpleName().equals(name))
                        .findFirst()
                        .orElseThrow(() -> new IllegalArgumentException("no type " + name));
        Object value = members(json, type);
        json.endObject();
        return value;
    }
}
