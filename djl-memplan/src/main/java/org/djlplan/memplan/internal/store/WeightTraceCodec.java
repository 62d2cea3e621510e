package org.djlplan.memplan.internal.store;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.List;
import java.util.function.ToLongFunction;
import org.djlplan.memplan.internal.budget.WeightTrace;
import org.djlplan.memplan.internal.budget.WeightUse;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/**
 * Reads and writes uses of weights in files. The format, shown on several lines but written on one:
 *
 * <pre>{@code
 * {"pieceOffset":[0,4194304],"pieceBytes":[4194304,8192],"stepBytes":[0,3211264],
 *  "stepNanos":[1000,52000],"piece":[0,1],"first":[0,1],"last":[1,1],
 *  "rowsFirstPiece":[0],"rowsLastPiece":[1],"rowsFirst":[0],"rowsLast":[0],"rowsBytes":[65536]}
 * }</pre>
 */
public final class WeightTraceCodec implements Codec<WeightTrace> {

    /** Limit of the numbers of pieces, steps and uses. */
    private static final int MOST_ENTRIES = 1 << 16;

    @Override
    public String kind() {
        return "weights";
    }

    @Override
    public int version() {
        return 2;
    }

    @Override
    public String ending() {
        return ".weights.json";
    }

    @Override
    public void write(JsonWriter json, WeightTrace trace) throws IOException {
        json.beginObject();
        array(json, "pieceOffset", trace.pieces(), WeightTrace.Piece::offsetBytes);
        array(json, "pieceBytes", trace.pieces(), WeightTrace.Piece::bytes);
        array(json, "stepBytes", trace.stepBytes().asList(), Long::longValue);
        array(json, "stepNanos", trace.stepNanos().asList(), Long::longValue);
        array(json, "piece", trace.uses(), WeightUse::piece);
        array(json, "first", trace.uses(), WeightUse::first);
        array(json, "last", trace.uses(), WeightUse::last);
        array(json, "rowsFirstPiece", trace.lookups(), rows -> rows.pieces().first());
        array(json, "rowsLastPiece", trace.lookups(), rows -> rows.pieces().last());
        array(json, "rowsFirst", trace.lookups(), WeightTrace.Lookup::first);
        array(json, "rowsLast", trace.lookups(), WeightTrace.Lookup::last);
        array(json, "rowsBytes", trace.lookups(), WeightTrace.Lookup::bytes);
        json.endObject();
    }

    private static <T> void array(
            JsonWriter json, String name, List<T> values, ToLongFunction<T> number)
            throws IOException {
        checkArgument(values.size() <= MOST_ENTRIES, "%s entries", values.size());
        json.name(name).beginArray();
        for (T each : values) {
            json.value(number.applyAsLong(each));
        }
        json.endArray();
    }

    /** Returns the common length of all arrays. */
    private static int sameLength(ImmutableLongArray... parallel) throws IOException {
        int length = parallel[0].length();
        for (ImmutableLongArray other : parallel) {
            if (other.length() != length) {
                throw new IOException("parallel arrays of " + length + " and " + other.length());
            }
        }
        return length;
    }

    @Override
    public WeightTrace read(CheckedJson json) throws IOException {
        json.beginObject();
        ImmutableLongArray pieceOffset = numbers(json, "pieceOffset");
        ImmutableLongArray pieceBytes = numbers(json, "pieceBytes");
        ImmutableLongArray stepBytes = numbers(json, "stepBytes");
        ImmutableLongArray stepNanos = numbers(json, "stepNanos");
        ImmutableLongArray piece = numbers(json, "piece");
        ImmutableLongArray first = numbers(json, "first");
        ImmutableLongArray last = numbers(json, "last");
        List<WeightTrace.Lookup> lookups = lookups(json);
        json.endObject();
        ImmutableList.Builder<WeightTrace.Piece> pieces = ImmutableList.builder();
        for (int i = 0; i < sameLength(pieceOffset, pieceBytes); i++) {
            pieces.add(new WeightTrace.Piece(pieceOffset.get(i), pieceBytes.get(i)));
        }
        ImmutableList.Builder<WeightUse> uses = ImmutableList.builder();
        for (int i = 0; i < sameLength(piece, first, last); i++) {
            int number = Math.toIntExact(piece.get(i));
            uses.add(
                    new WeightUse(
                            number,
                            Math.toIntExact(first.get(i)),
                            Math.toIntExact(last.get(i)),
                            pieceBytes.get(number)));
        }
        return new WeightTrace(pieces.build(), stepBytes, stepNanos, uses.build(), lookups);
    }

    private static List<WeightTrace.Lookup> lookups(CheckedJson json) throws IOException {
        ImmutableLongArray firstPiece = numbers(json, "rowsFirstPiece");
        ImmutableLongArray lastPiece = numbers(json, "rowsLastPiece");
        ImmutableLongArray first = numbers(json, "rowsFirst");
        ImmutableLongArray last = numbers(json, "rowsLast");
        ImmutableLongArray bytes = numbers(json, "rowsBytes");
        ImmutableList.Builder<WeightTrace.Lookup> lookups = ImmutableList.builder();
        int count = sameLength(firstPiece, lastPiece, first, last, bytes);
        for (int i = 0; i < count; i++) {
            lookups.add(
                    new WeightTrace.Lookup(
                            new WeightTrace.Range(
                                    Math.toIntExact(firstPiece.get(i)),
                                    Math.toIntExact(lastPiece.get(i))),
                            Math.toIntExact(first.get(i)),
                            Math.toIntExact(last.get(i)),
                            bytes.get(i)));
        }
        return lookups.build();
    }

    private static ImmutableLongArray numbers(CheckedJson json, String name) throws IOException {
        return json.expect(name).numbers(MOST_ENTRIES);
    }

    @Override
    public void check(WeightTrace trace) throws IOException {
        for (long nanos : trace.stepNanos().asList()) {
            if (nanos < 0) {
                throw new IOException("a step of " + nanos + " ns");
            }
        }
    }
}
