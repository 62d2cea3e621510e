package org.djlplan.memplan.internal.source.tflite;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;
import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.djlplan.thirdparty.guava.base.CharMatcher;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * The tables of the format, as listed in {@code schema.txt}, whose header explains the notation.
 */
final class Schema {

    private static final Splitter WORDS = Splitter.on(' ').omitEmptyStrings();
    private static final Splitter PARTS = Splitter.on(CharMatcher.anyOf(":=@"));
    private static final Schema INSTANCE = new Schema();

    private final Map<String, String> lines = new HashMap<>();
    private final Map<String, TableType> tables = new ConcurrentHashMap<>();
    private final Map<String, ImmutableList<String>> unions = new HashMap<>();
    private ImmutableList<String> operators = ImmutableList.of();

    /** The type of a field, or of the elements of a vector. */
    enum Kind {
        BOOL(1, Boolean.class),
        BYTE(1, Integer.class),
        INT(4, Integer.class),
        UINT(4, Long.class),
        LONG(8, Long.class),
        FLOAT(4, Float.class),
        STRING(4, String.class),
        TABLE(4, FlatTable.class),
        UNION(4, FlatTable.class),
        RAW(4, TfLiteBytes.class);

        /** Bytes of the value itself, or of its offset. */
        final int bytes;

        /** The class of such a value in a {@link FlatTable}. */
        final Class<?> valueClass;

        Kind(int bytes, Class<?> valueClass) {
            this.bytes = bytes;
            this.valueClass = valueClass;
        }
    }

    /**
     * One field of a table.
     *
     * @param slot its slot; for a union the slot of the union's type, and the next slot has the
     *     union's value
     * @param vector whether it holds a vector of {@code kind}
     * @param target name of the table or union; empty for other kinds
     * @param defaultValue value of an absent scalar; empty string, list or bytes otherwise
     * @param elementBytes for a raw vector, bytes of one element
     * @param alignmentBytes for a raw vector, alignment of its first element
     */
    record Field(
            String name,
            int slot,
            Kind kind,
            boolean vector,
            String target,
            Object defaultValue,
            int elementBytes,
            int alignmentBytes) {}

    /** One table: its fields by name, in order of their slots. */
    record TableType(String name, ImmutableMap<String, Field> fields, int slots) {

        Field field(String fieldName) {
            Field field = fields.get(fieldName);
            checkArgument(field != null, "%s has no field %s", name, fieldName);
            return field;
        }
    }

    private Schema() {
        for (String line : logicalLines()) {
            List<String> words = WORDS.splitToList(line);
            switch (words.get(0)) {
                case "table" -> lines.put(words.get(1), line);
                case "union" ->
                        unions.put(
                                words.get(1), ImmutableList.copyOf(words.subList(2, words.size())));
                case "operators" ->
                        operators = ImmutableList.copyOf(words.subList(1, words.size()));
                default -> throw new IllegalStateException("schema.txt: " + line);
            }
        }
        for (List<String> members : unions.values()) {
            members.forEach(member -> lines.putIfAbsent(member, "table " + member));
        }
    }

    private static List<String> logicalLines() {
        List<String> lines = new ArrayList<>();
        try (BufferedReader reader =
                new BufferedReader(
                        new InputStreamReader(
                                Schema.class.getResourceAsStream("schema.txt"),
                                StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                if (line.startsWith(" ")) {
                    lines.add(lines.remove(lines.size() - 1) + line);
                } else if (!line.isEmpty() && !line.startsWith("#")) {
                    lines.add(line);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return lines;
    }

    /** Tables are parsed at first use, because a model has only a few of them. */
    private TableType parse(String name) {
        String line = lines.get(name);
        checkArgument(line != null, "no table %s in the schema", name);
        List<String> words = WORDS.splitToList(line);
        return parseTable(name, words.subList(2, words.size()));
    }

    private TableType parseTable(String name, List<String> fieldTexts) {
        ImmutableMap.Builder<String, Field> fields = ImmutableMap.builder();
        int slot = 0;
        for (String text : fieldTexts) {
            Field field = parseField(text, slot);
            fields.put(field.name(), field);
            slot += field.kind() == Kind.UNION ? 2 : 1;
        }
        return new TableType(name, fields.buildOrThrow(), slot);
    }

    private Field parseField(String text, int slot) {
        List<String> parts = PARTS.splitToList(text);
        String name = parts.get(0);
        String type = parts.get(1);
        if (type.startsWith("raw")) {
            int elementBytes = Integer.parseInt(type.substring(3));
            int alignmentBytes = Integer.parseInt(parts.get(2));
            return new Field(
                    name,
                    slot,
                    Kind.RAW,
                    false,
                    "",
                    TfLiteBytes.EMPTY,
                    elementBytes,
                    alignmentBytes);
        }
        boolean vector = type.startsWith("[");
        String element = vector ? type.substring(1, type.length() - 1) : type;
        boolean named = Character.isUpperCase(element.charAt(0));
        Kind kind;
        if (!named) {
            kind = Kind.valueOf(element.toUpperCase(Locale.ROOT));
        } else {
            kind = unions.containsKey(element) ? Kind.UNION : Kind.TABLE;
        }
        String target = named ? element : "";
        Object value =
                vector ? ImmutableList.of() : parseDefault(kind, parts.size() > 2, parts, target);
        return new Field(name, slot, kind, vector, target, value, 0, 0);
    }

    private static Object parseDefault(
            Kind kind, boolean given, List<String> parts, String target) {
        String text = given ? parts.get(2) : "0";
        return switch (kind) {
            case BOOL -> given && Boolean.parseBoolean(text);
            case BYTE, INT -> Integer.valueOf(text);
            case UINT, LONG -> Long.valueOf(text);
            case FLOAT -> Float.valueOf(text);
            case STRING -> "";
            case TABLE, UNION -> target;
            case RAW -> throw new IllegalStateException("a raw vector has no default");
        };
    }

    /** Returns a table of the format; it must exist. */
    static TableType table(String name) {
        return INSTANCE.tables.computeIfAbsent(name, INSTANCE::parse);
    }

    /** Returns the members of a union; the first has type 1 in a file. */
    static ImmutableList<String> union(String name) {
        ImmutableList<String> members = INSTANCE.unions.get(name);
        checkState(members != null, "no union %s in the schema", name);
        return members;
    }

    /** Returns the names of the builtin operators by their codes. */
    static ImmutableList<String> operators() {
        return INSTANCE.operators;
    }
}
