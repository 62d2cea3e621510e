package org.djlplan.delegation.internal.store;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import org.djlplan.delegation.internal.table.ProfileTable;
import org.djlplan.delegation.internal.table.ProfileTable.Entry;
import org.djlplan.delegation.internal.table.ProfileTable.Entry.Latency;
import org.djlplan.memplan.internal.store.CheckedJson;
import org.djlplan.memplan.internal.store.Codec;
import org.djlplan.memplan.internal.store.OutputErrorJson;
import org.djlplan.memplan.internal.store.TableJson;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/**
 * Tables in files. The format, shown on several lines but written on one:
 *
 * <pre>{@code
 * {"partitions":[[0,57],[60,60,62,150]],
 *  "entries":[
 *   {"kind":"measured","operators":[],"threads":2,"transientBuffers":false,
 *    "partitions":0,"nanos":[237000000,236000000,240000000],"samples":30,"memoryBytes":106000000,"errors":[]},
 *   {"kind":"wrong","operators":[60,60,62,150],"threads":2,"transientBuffers":false,
 *    "errors":[{"type":"FLOAT32",…}]},
 *   {"kind":"failed","operators":[0,57],"threads":2,"transientBuffers":true,
 *    "failure":"CRASHED","message":"…"}],
 *  "chosen":{"operators":[],"threads":2,"transientBuffers":false},"lighter":[],
 *  "reason":"…","caveat":[],"inferences":93,"nanos":9000000000}
 * }</pre>
 *
 * <p>Operators are runs of indices, each as its first and last one. Latencies are median, lower and
 * upper quartile. Differences of outputs are strings, because JSON has no infinite numbers.
 */
final class ProfileCodec implements Codec<ProfileTable> {

    /** Limit of a model's operators. */
    static final int MOST_OPERATORS = 1 << 16;

    private static final int MOST_PARTITIONS = 1 << 12;
    private static final int MOST_ENTRIES = 1 << 14;
    private static final int MOST_OUTPUTS = 1 << 10;
    private static final int MOST_LIGHTER = 64;

    private final int operators;
    private final Optional<Wanted> wanted;

    /**
     * @param operators limit of the operators of the model
     * @param wanted the request that tables must match; empty to show any table
     */
    ProfileCodec(int operators, Optional<Wanted> wanted) {
        this.operators = operators;
        this.wanted = wanted;
    }

    @Override
    public String kind() {
        return "profile";
    }

    @Override
    public int version() {
        return 3;
    }

    @Override
    public String ending() {
        return ".profile.json";
    }

    @Override
    public void write(JsonWriter json, ProfileTable table) throws IOException {
        checkArgument(table.partitions().size() <= MOST_PARTITIONS, "too many partitions");
        checkArgument(table.entries().size() <= MOST_ENTRIES, "too many entries");
        TableJson sets = new TableJson(operators);
        json.beginObject().name("partitions").beginArray();
        for (SortedSet<Integer> partition : table.partitions()) {
            sets.write(json, partition);
        }
        json.endArray().name("entries").beginArray();
        for (Entry entry : table.entries()) {
            json.beginObject();
            write(json, entry, sets);
            json.endObject();
        }
        json.endArray().name("chosen").beginObject();
        sets.write(json, table.chosen());
        json.endObject();
        json.name("lighter").beginArray();
        for (Candidate candidate : table.lighter()) {
            json.beginObject();
            sets.write(json, candidate);
            json.endObject();
        }
        json.endArray().name("reason").value(table.reason());
        json.name("caveat").beginArray();
        if (table.caveat().isPresent()) {
            json.value(table.caveat().get());
        }
        json.endArray();
        json.name("inferences").value(table.inferences());
        json.name("nanos").value(table.nanos()).endObject();
    }

    private static void write(JsonWriter json, Entry entry, TableJson sets) throws IOException {
        if (entry instanceof Entry.Measured measured) {
            sets.write(json.name("kind").value("measured"), entry.candidate());
            Latency latency = measured.latency();
            json.name("partitions").value(measured.kernels());
            json.name("nanos").beginArray().value(latency.medianNanos());
            json.value(latency.lowNanos()).value(latency.highNanos()).endArray();
            json.name("samples").value(latency.samples());
            json.name("memoryBytes").value(measured.memoryBytes());
            write(json, measured.errors());
        } else if (entry instanceof Entry.Wrong wrong) {
            sets.write(json.name("kind").value("wrong"), entry.candidate());
            write(json, wrong.errors());
        } else if (entry instanceof Entry.Failed failed) {
            sets.write(json.name("kind").value("failed"), entry.candidate());
            json.name("failure").value(failed.kind().name());
            json.name("message").value(failed.message());
        }
    }

    private static void write(JsonWriter json, List<OutputError> errors) throws IOException {
        checkArgument(errors.size() <= MOST_OUTPUTS, "too many outputs");
        json.name("errors").beginArray();
        for (OutputError error : errors) {
            OutputErrorJson.write(json, error);
        }
        json.endArray();
    }

    @Override
    public ProfileTable read(CheckedJson json) throws IOException {
        return new Reader(json).table();
    }

    @Override
    public void check(ProfileTable table) throws IOException {
        if (table.reason().isEmpty()) {
            throw new IOException("a choice without a reason");
        }
        if (wanted.isPresent()) {
            wanted.get().check(table);
        }
    }

    /** Reads one table. */
    private final class Reader {

        private final CheckedJson json;
        private final TableJson sets = new TableJson(operators);

        Reader(CheckedJson json) {
            this.json = json;
        }

        ProfileTable table() throws IOException {
            json.beginObject();
            List<SortedSet<Integer>> partitions =
                    json.expect("partitions").list(MOST_PARTITIONS, () -> sets.read(json));
            List<Entry> entries = json.expect("entries").list(MOST_ENTRIES, this::entry);
            json.expect("chosen").beginObject();
            Candidate chosen = sets.readCandidate(json);
            json.endObject();
            List<Candidate> lighter = json.expect("lighter").list(MOST_LIGHTER, this::lighter);
            String reason = json.expect("reason").nextString();
            List<String> caveat = json.expect("caveat").list(1, json::nextString);
            int inferences = json.expect("inferences").nextInt();
            long nanos = json.expect("nanos").nextLong();
            json.endObject();
            return new ProfileTable(
                    partitions,
                    entries,
                    chosen,
                    lighter,
                    reason,
                    caveat.stream().findFirst(),
                    inferences,
                    nanos);
        }

        private Candidate lighter() throws IOException {
            json.beginObject();
            Candidate candidate = sets.readCandidate(json);
            json.endObject();
            return candidate;
        }

        private Entry entry() throws IOException {
            json.beginObject();
            String kind = json.expect("kind").nextString();
            Candidate candidate = sets.readCandidate(json);
            Entry entry =
                    switch (kind) {
                        case "measured" -> measured(candidate);
                        case "wrong" -> new Entry.Wrong(candidate, errors());
                        case "failed" -> failed(candidate);
                        default -> throw new IOException("an entry of kind " + kind);
                    };
            json.endObject();
            return entry;
        }

        private Entry measured(Candidate candidate) throws IOException {
            int partitions = json.expect("partitions").nextInt();
            ImmutableLongArray nanos = json.expect("nanos").numbers(3);
            if (nanos.length() != 3) {
                throw new IOException("a latency of " + nanos.length() + " numbers");
            }
            int samples = json.expect("samples").nextInt();
            Latency latency = new Latency(nanos.get(0), nanos.get(1), nanos.get(2), samples);
            long memoryBytes = json.expect("memoryBytes").nextLong();
            return new Entry.Measured(candidate, partitions, latency, memoryBytes, errors());
        }

        private Entry failed(Candidate candidate) throws IOException {
            String kind = json.expect("failure").nextString();
            String message = json.expect("message").nextString();
            return new Entry.Failed(candidate, CandidateException.Kind.valueOf(kind), message);
        }

        private List<OutputError> errors() throws IOException {
            return json.expect("errors").list(MOST_OUTPUTS, () -> OutputErrorJson.read(json));
        }
    }
}
