package org.djlplan.memplan.internal.source.tflite;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntUnaryOperator;
import org.djlplan.memplan.internal.source.tflite.Schema.Field;
import org.djlplan.memplan.internal.source.tflite.Schema.Kind;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * A table of a {@code .tflite} file as values, for data that the project only passes through:
 * builtin options of operators, sparsity.
 *
 * <p>Values are {@code Integer} for fields of type byte and int, {@code Long} for uint and long,
 * {@code Float}, {@code Boolean}, {@code String}, another {@code FlatTable} (a table, or the member
 * of a union), {@link TfLiteBytes}, or a list of one of these.
 *
 * @param type the table's name in TensorFlow's schema, for example {@code Conv2DOptions}
 * @param fields exactly the stored fields, by name; a stored scalar differs from an absent one,
 *     even if its value is the default
 */
public record FlatTable(String type, Map<String, Object> fields) {

    /**
     * @throws IllegalArgumentException if there is no such table or field in the schema or a value
     *     does not have the field's type
     */
    public FlatTable {
        Schema.TableType table = Schema.table(type);
        fields = ImmutableMap.copyOf(fields);
        fields.forEach((name, value) -> check(table.field(name), value));
    }

    private static void check(Field field, Object value) {
        boolean fits;
        if (field.vector()) {
            fits =
                    value instanceof List<?> list
                            && list.stream().allMatch(element -> fits(field, element));
        } else {
            fits = fits(field, value);
        }
        checkArgument(fits, "%s is not a value for %s", value, field);
    }

    private static boolean fits(Field field, Object value) {
        if (!field.kind().valueClass.isInstance(value)) {
            return false;
        }
        return switch (field.kind()) {
            case BYTE -> (byte) (int) (Integer) value == (Integer) value;
            case UINT -> ((Long) value) >>> 32 == 0;
            case TABLE -> ((FlatTable) value).type().equals(field.target());
            case UNION -> Schema.union(field.target()).contains(((FlatTable) value).type());
            case RAW -> ((TfLiteBytes) value).sizeBytes() % field.elementBytes() == 0;
            case BOOL, INT, LONG, FLOAT, STRING -> true;
        };
    }

    /** Returns a table without fields. */
    public static FlatTable of(String type) {
        return new FlatTable(type, Map.of());
    }

    /** Returns this table with one more stored field. */
    public FlatTable with(String field, Object value) {
        Map<String, Object> more = new LinkedHashMap<>(fields);
        more.put(field, value);
        return new FlatTable(type, more);
    }

    /** Returns a field of type byte or int, its default if it is not stored. */
    public int intValue(String field) {
        return (Integer) valueOf(field);
    }

    /** Returns a vector of ints, empty if it is not stored. */
    public List<Integer> ints(String field) {
        return ((List<?>) valueOf(field)).stream().map(Integer.class::cast).toList();
    }

    /** Returns a vector of tables, empty if it is not stored. */
    public List<FlatTable> tables(String field) {
        return ((List<?>) valueOf(field)).stream().map(FlatTable.class::cast).toList();
    }

    /** Returns a raw vector, empty if it is not stored. */
    public TfLiteBytes bytes(String field) {
        return (TfLiteBytes) valueOf(field);
    }

    /** Returns the table in a field of a table or union type. */
    public Optional<FlatTable> table(String field) {
        Kind kind = Schema.table(type).field(field).kind();
        checkArgument(kind == Kind.TABLE || kind == Kind.UNION, "%s is a %s", field, kind);
        return Optional.ofNullable(fields.get(field)).map(FlatTable.class::cast);
    }

    /** Returns the indices of the subgraphs that an operator with these options calls, by field. */
    Map<String, Long> subgraphs() {
        Map<String, Long> called = new LinkedHashMap<>();
        for (String field : Schema.table(type).fields().keySet()) {
            if (field.endsWith("_subgraph_index") || field.equals("subgraph")) {
                called.put(field, ((Number) valueOf(field)).longValue());
            }
        }
        return called;
    }

    /** Returns these options with other indices of subgraphs. */
    FlatTable calling(IntUnaryOperator moved) {
        FlatTable changed = this;
        for (Map.Entry<String, Long> called : subgraphs().entrySet()) {
            int index = moved.applyAsInt(Math.toIntExact(called.getValue()));
            boolean wide = valueOf(called.getKey()) instanceof Long;
            changed = changed.with(called.getKey(), wide ? (Object) (long) index : (Object) index);
        }
        return changed;
    }

    private Object valueOf(String field) {
        Object value = fields.get(field);
        return value == null ? Schema.table(type).field(field).defaultValue() : value;
    }
}
