package org.djlplan.memplan.internal.store;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.List;
import org.djlplan.memplan.internal.formula.LearntShapes;
import org.djlplan.memplan.internal.formula.LearntStructure;
import org.djlplan.memplan.internal.formula.Structure;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;
import org.djlplan.thirdparty.guava.primitives.ImmutableIntArray;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/**
 * Reads and writes files of recordings, from which formulas for other shapes are derived. The
 * format, shown on several lines but written on one:
 *
 * <pre>{@code
 * {"structures":[{"ends":[2,2,3],"left":[2],"shapes":[[1,16],[2,8]],
 *   "sizes":[[4096,4096],[1024,2048]],"sizeOf":[0,1,1]}]}
 * }</pre>
 *
 * <p>A row of {@code sizes} has one size for each shape. For each allocation, {@code sizeOf} has
 * its row, and {@code ends} the first allocation after its free. Those in {@code left} escape.
 */
public final class ShapesCodec implements Codec<LearntShapes> {

    private static final int MOST_DIMENSIONS = 1024;

    @Override
    public String kind() {
        return "shapes";
    }

    @Override
    public int version() {
        return 1;
    }

    @Override
    public String ending() {
        return ".shapes.json";
    }

    @Override
    public void write(JsonWriter json, LearntShapes learnt) throws IOException {
        json.beginObject().name("structures").beginArray();
        for (LearntStructure structure : learnt.structures()) {
            json.beginObject().name("ends");
            PlanCodec.numbers(json, structure.structure().ends().asList(), end -> end);
            json.name("left");
            PlanCodec.numbers(json, structure.left().asList(), number -> number);
            rows(json.name("shapes"), structure.shapes());
            rows(json.name("sizes"), structure.rows());
            json.name("sizeOf");
            PlanCodec.numbers(json, structure.rowOf().asList(), row -> row);
            json.endObject();
        }
        json.endArray().endObject();
    }

    private static void rows(JsonWriter json, List<ImmutableLongArray> rows) throws IOException {
        checkArgument(rows.size() <= PlanCodec.MOST_ENTRIES, "%s rows", rows.size());
        json.beginArray();
        for (ImmutableLongArray row : rows) {
            PlanCodec.numbers(json, row.asList(), value -> value);
        }
        json.endArray();
    }

    @Override
    public LearntShapes read(CheckedJson json) throws IOException {
        json.beginObject();
        List<LearntStructure> structures =
                json.expect("structures").list(LearntShapes.MOST_STRUCTURES, () -> structure(json));
        json.endObject();
        return new LearntShapes(structures);
    }

    private static LearntStructure structure(CheckedJson json) throws IOException {
        json.beginObject();
        ImmutableIntArray ends = integers(PlanCodec.numbers(json, "ends"));
        ImmutableIntArray left = integers(PlanCodec.numbers(json, "left"));
        ImmutableList<ImmutableLongArray> shapes =
                json.expect("shapes")
                        .list(LearntShapes.MOST_RECORDINGS, () -> json.numbers(MOST_DIMENSIONS));
        ImmutableList<ImmutableLongArray> sizes =
                json.expect("sizes")
                        .list(
                                PlanCodec.MOST_ENTRIES,
                                () -> json.numbers(LearntShapes.MOST_RECORDINGS));
        ImmutableIntArray sizeOf = integers(PlanCodec.numbers(json, "sizeOf"));
        json.endObject();
        return new LearntStructure(
                new Structure(ends), ImmutableSet.copyOf(left.asList()), shapes, sizes, sizeOf);
    }

    private static ImmutableIntArray integers(ImmutableLongArray numbers) {
        return ImmutableIntArray.copyOf(numbers.stream().mapToInt(Math::toIntExact));
    }

    @Override
    public void check(LearntShapes learnt) {
        // Each structure validates itself, and each plan based on it is checked when used.
    }
}
