package org.djlplan.delegation.store;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.primitives.ImmutableLongArray;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import org.djlplan.delegation.table.Entry;
import org.djlplan.delegation.table.Latency;
import org.djlplan.delegation.table.ProfileTable;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.store.CheckedJson;
import org.djlplan.memplan.store.Codec;

/**
 * Tables in files. Shown here on several lines, written on one:
 *
 * <pre>{@code
 * {"partitions":[[0,57],[60,60,62,150]],
 *  "entries":[
 *   {"kind":"measured","operators":[],"threads":2,"partitions":0,
 *    "nanos":[237000000,236000000,240000000],"samples":30,"memoryBytes":106000000,"errors":[]},
 *   {"kind":"wrong","operators":[60,60,62,150],"threads":2,"errors":[{"type":"FLOAT32",…}]},
 *   {"kind":"failed","operators":[0,57],"threads":2,"failure":"CRASHED","message":"…"}],
 *  "chosen":{"operators":[],"threads":2},"lighter":[],
 *  "reason":"…","caveat":[],"inferences":93,"nanos":9000000000}
 * }</pre>
 *
 * <p>Operators are runs of indices, each as its first and last one. Latencies are median, lower and
 * upper quartile. Differences of outputs are texts, as JSON has no infinite numbers.
 */
final class ProfileCodec implements Codec<ProfileTable> {

    /** Most operators of a model. */
    static final int MOST_OPERATORS = 1 << 16;

    private static final int MOST_PARTITIONS = 1 << 12;
    private static final int MOST_ENTRIES = 1 << 14;
    private static final int MOST_OUTPUTS = 1 << 10;
    private static final int MOST_LIGHTER = 64;

    private final int operators;
    private final Optional<Wanted> wanted;

    /**
     * @param operators how many operators the model has, at most
     * @param wanted what is asked of tables; empty to show whatever is there
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
        return 2;
    }

    @Override
    public String ending() {
        return ".profile.json";
    }

    @Override
    public void write(JsonWriter json, ProfileTable table) throws IOException {
        checkArgument(table.partitions().size() <= MOST_PARTITIONS, "too many partitions");
        checkArgument(table.entries().size() <= MOST_ENTRIES, "too many entries");
        OperatorRuns runs = new OperatorRuns(operators);
        json.beginObject().name("partitions").beginArray();
        for (SortedSet<Integer> partition : table.partitions()) {
            runs.write(json, partition);
        }
        json.endArray().name("entries").beginArray();
        for (Entry entry : table.entries()) {
            json.beginObject();
            write(json, entry, runs);
            json.endObject();
        }
        json.endArray().name("chosen").beginObject();
        write(json, table.chosen(), runs);
        json.endObject();
        json.name("lighter").beginArray();
        for (Candidate candidate : table.lighter()) {
            json.beginObject();
            write(json, candidate, runs);
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

    private static void write(JsonWriter json, Entry entry, OperatorRuns runs) throws IOException {
        if (entry instanceof Entry.Measured measured) {
            write(json.name("kind").value("measured"), entry.candidate(), runs);
            Latency latency = measured.latency();
            json.name("partitions").value(measured.partitions());
            json.name("nanos").beginArray().value(latency.medianNanos());
            json.value(latency.lowNanos()).value(latency.highNanos()).endArray();
            json.name("samples").value(latency.samples());
            json.name("memoryBytes").value(measured.memoryBytes());
            write(json, measured.errors());
        } else if (entry instanceof Entry.Wrong wrong) {
            write(json.name("kind").value("wrong"), entry.candidate(), runs);
            write(json, wrong.errors());
        } else if (entry instanceof Entry.Failed failed) {
            write(json.name("kind").value("failed"), entry.candidate(), runs);
            json.name("failure").value(failed.kind().name());
            json.name("message").value(failed.message());
        }
    }

    private static void write(JsonWriter json, Candidate candidate, OperatorRuns runs)
            throws IOException {
        runs.write(json.name("operators"), candidate.operators());
        json.name("threads").value(candidate.threads());
    }

    private static void write(JsonWriter json, List<OutputError> errors) throws IOException {
        checkArgument(errors.size() <= MOST_OUTPUTS, "too many outputs");
        json.name("errors").beginArray();
        for (OutputError error : errors) {
            ErrorCodec.write(json, error);
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
        private final OperatorRuns runs = new OperatorRuns(operators);

        Reader(CheckedJson json) {
            this.json = json;
        }

        ProfileTable table() throws IOException {
            json.beginObject();
            List<SortedSet<Integer>> partitions =
                    json.expect("partitions").list(MOST_PARTITIONS, () -> runs.read(json));
            List<Entry> entries = json.expect("entries").list(MOST_ENTRIES, this::entry);
            json.expect("chosen").beginObject();
            Candidate chosen = candidate();
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
            Candidate candidate = candidate();
            json.endObject();
            return candidate;
        }

        private Entry entry() throws IOException {
            json.beginObject();
            String kind = json.expect("kind").nextString();
            Candidate candidate = candidate();
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
            return json.expect("errors").list(MOST_OUTPUTS, () -> ErrorCodec.read(json));
        }

        private Candidate candidate() throws IOException {
            SortedSet<Integer> taken = runs.read(json.expect("operators"));
            return new Candidate(taken, json.expect("threads").nextInt());
        }
    }
}
