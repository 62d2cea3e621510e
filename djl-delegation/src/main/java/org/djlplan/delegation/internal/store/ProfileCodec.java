package org.djlplan.delegation.internal.store;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.memplan.internal.store.CheckedJson;
import org.djlplan.memplan.internal.store.Codec;
import org.djlplan.memplan.internal.store.TableJson;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.spi.Candidate;

/**
 * Tables in files. The format, shown on several lines but written on one:
 *
 * <pre>{@code
 * {"partitions":[[0,57],[60,60,62,150]],
 *  "entries":[{"kind":"measured",…},…],
 *  "chosen":{"operators":[],"threads":2,"transientBuffers":false},"lighter":[],
 *  "reason":"…","caveat":[],"inferences":93,"nanos":9000000000}
 * }</pre>
 *
 * <p>Entries, candidates and sets of operators are as in {@link TableJson}.
 */
final class ProfileCodec implements Codec<ProfileTable> {

    /** Limit of a model's operators. */
    static final int MOST_OPERATORS = 1 << 16;

    private static final int MOST_PARTITIONS = 1 << 12;
    private static final int MOST_ENTRIES = 1 << 14;
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
            sets.write(json, entry);
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
            List<Entry> entries =
                    json.expect("entries").list(MOST_ENTRIES, () -> sets.readEntry(json));
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
    }
}
