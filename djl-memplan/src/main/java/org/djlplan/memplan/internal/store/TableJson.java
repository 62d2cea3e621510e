package org.djlplan.memplan.internal.store;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.internal.table.Entry;
import org.djlplan.memplan.internal.table.Entry.Latency;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.OutputError.ByOperator;
import org.djlplan.memplan.spi.OutputError.Deviation;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/**
 * Reads and writes the parts of files of measurements as JSON: rows of tables, candidates, sets of
 * operators. Three rows, each on one line in a file:
 *
 * <pre>{@code
 * {"kind":"measured","operators":[],"threads":2,"transientBuffers":false,"partitions":0,
 *  "nanos":[237000000,236000000,240000000],"samples":30,"memoryBytes":106000000,"errors":[]}
 * {"kind":"wrong","operators":[60,60,62,150],"threads":2,"transientBuffers":false,
 *  "errors":[{"type":"FLOAT32",…}]}
 * {"kind":"failed","recipe":"frozen","threads":2,"transientBuffers":false,
 *  "failure":"CRASHED","message":"…"}
 * }</pre>
 *
 * <p>A set is written as the first and last index of every run. The total number of operators read
 * from a file is limited, so that a small text cannot become a large value. Latencies are median,
 * lower and upper quartile. Differences of outputs are strings, because JSON has no infinite
 * numbers.
 */
public final class TableJson {

    /** Limit of the operators of all sets of a file. */
    public static final int MOST_MENTIONS = 1 << 21;

    private static final int MOST_OUTPUTS = 10_000;
    private static final int LATENCY_PARTS = 3;
    private static final int DEVIATION_PARTS = 3;

    private final int operators;
    private long mentions;

    /**
     * @param operators limit of the operators of the model
     */
    public TableJson(int operators) {
        this.operators = operators;
    }

    /**
     * Writes a set.
     *
     * @throws IllegalArgumentException if the model has no such operators, or the total limit is
     *     exceeded
     */
    public void write(JsonWriter json, SortedSet<Integer> of) throws IOException {
        checkArgument(of.isEmpty() || of.last() < operators, "%s of %s operators", of, operators);
        mentions += of.size();
        checkArgument(mentions <= MOST_MENTIONS, "too many operators in all");
        json.beginArray();
        for (int operator : of) {
            if (!of.contains(operator - 1)) {
                json.value(operator);
            }
            if (!of.contains(operator + 1)) {
                json.value(operator);
            }
        }
        json.endArray();
    }

    /** Writes the fields of a candidate: its recipe, if it has one, otherwise its operators. */
    public void write(JsonWriter json, Candidate candidate) throws IOException {
        if (candidate.recipe().isEmpty()) {
            write(json.name("operators"), candidate.operators());
        } else {
            json.name("recipe").value(candidate.recipe());
        }
        json.name("threads").value(candidate.threads());
        json.name("transientBuffers").value(candidate.transientBuffers());
    }

    /** Reads the fields of a candidate. */
    public Candidate readCandidate(CheckedJson json) throws IOException {
        String first = json.nextName();
        String recipe = "";
        SortedSet<Integer> taken = Collections.emptySortedSet();
        switch (first) {
            case "recipe" -> recipe = json.nextString();
            case "operators" -> taken = read(json);
            default -> throw new IOException(first + " in place of operators");
        }
        int threads = json.expect("threads").nextInt();
        boolean transientBuffers = json.expect("transientBuffers").nextBoolean();
        return new Candidate(recipe, taken, threads, transientBuffers);
    }

    /** Reads a set. */
    public SortedSet<Integer> read(CheckedJson json) throws IOException {
        ImmutableLongArray ends = json.numbers(2 * operators);
        SortedSet<Integer> all = new TreeSet<>();
        long before = -1;
        for (int i = 0; i < ends.length(); i += 2) {
            long first = ends.get(i);
            // For an odd number of bounds the last one is missing, and get throws.
            long last = ends.get(i + 1);
            if (first <= before || last < first || last >= operators) {
                throw new IOException("operators " + first + " to " + last + " of " + operators);
            }
            mentions += last - first + 1;
            if (mentions > MOST_MENTIONS) {
                throw new IOException("too many operators in all");
            }
            for (long operator = first; operator <= last; operator++) {
                all.add((int) operator);
            }
            before = last;
        }
        return Collections.unmodifiableSortedSet(all);
    }

    /** Writes a row. */
    public void write(JsonWriter json, Entry entry) throws IOException {
        json.beginObject();
        if (entry instanceof Entry.Measured measured) {
            write(json.name("kind").value("measured"), entry.candidate());
            Latency latency = measured.latency();
            json.name("partitions").value(measured.kernels());
            json.name("nanos").beginArray().value(latency.medianNanos());
            json.value(latency.lowNanos()).value(latency.highNanos()).endArray();
            json.name("samples").value(latency.samples());
            json.name("memoryBytes").value(measured.memoryBytes());
            writeErrors(json, measured.errors());
        } else if (entry instanceof Entry.Wrong wrong) {
            write(json.name("kind").value("wrong"), entry.candidate());
            writeErrors(json, wrong.errors());
        } else if (entry instanceof Entry.Failed failed) {
            write(json.name("kind").value("failed"), entry.candidate());
            json.name("failure").value(failed.kind().name());
            json.name("message").value(failed.message());
        }
        json.endObject();
    }

    /** Reads a row. */
    public Entry readEntry(CheckedJson json) throws IOException {
        json.beginObject();
        String kind = json.expect("kind").nextString();
        Candidate candidate = readCandidate(json);
        Entry entry =
                switch (kind) {
                    case "measured" -> measured(json, candidate);
                    case "wrong" -> new Entry.Wrong(candidate, readErrors(json));
                    case "failed" -> failed(json, candidate);
                    default -> throw new IOException("an entry of kind " + kind);
                };
        json.endObject();
        return entry;
    }

    private static Entry measured(CheckedJson json, Candidate candidate) throws IOException {
        int kernels = json.expect("partitions").nextInt();
        ImmutableLongArray nanos = json.expect("nanos").numbers(LATENCY_PARTS);
        if (nanos.length() != LATENCY_PARTS) {
            throw new IOException("a latency of " + nanos.length() + " numbers");
        }
        int samples = json.expect("samples").nextInt();
        Latency latency = new Latency(nanos.get(0), nanos.get(1), nanos.get(2), samples);
        long memoryBytes = json.expect("memoryBytes").nextLong();
        return new Entry.Measured(candidate, kernels, latency, memoryBytes, readErrors(json));
    }

    private static Entry failed(CheckedJson json, Candidate candidate) throws IOException {
        String kind = json.expect("failure").nextString();
        String message = json.expect("message").nextString();
        return new Entry.Failed(candidate, CandidateException.Kind.valueOf(kind), message);
    }

    /** Writes the field with the errors of a candidate's outputs. */
    private static void writeErrors(JsonWriter json, List<OutputError> errors) throws IOException {
        checkArgument(errors.size() <= MOST_OUTPUTS, "too many outputs");
        json.name("errors").beginArray();
        for (OutputError error : errors) {
            json.beginObject().name("type").value(error.type().name());
            write(json.name("deviation"), error.deviation());
            write(json.name("noise"), error.noise());
            json.name("headroom").value(Double.toString(error.headroom()));
            if (error.byOperator().isPresent()) {
                ByOperator worst = error.byOperator().get();
                json.name("operator").value(worst.operator());
                json.name("share").value(Double.toString(worst.share()));
            }
            json.endObject();
        }
        json.endArray();
    }

    private static void write(JsonWriter json, Deviation deviation) throws IOException {
        json.beginArray().value(Double.toString(deviation.largest()));
        json.value(Double.toString(deviation.spread()));
        json.value(Integer.toString(deviation.otherTops())).endArray();
    }

    /** Reads the field with the errors of a candidate's outputs. */
    private static List<OutputError> readErrors(CheckedJson json) throws IOException {
        return json.expect("errors").list(MOST_OUTPUTS, () -> error(json));
    }

    private static OutputError error(CheckedJson json) throws IOException {
        json.beginObject();
        ElementType type = ElementType.valueOf(json.expect("type").nextString());
        Deviation deviation = deviation(json.expect("deviation"));
        Deviation noise = deviation(json.expect("noise"));
        double headroom = Double.parseDouble(json.expect("headroom").nextString());
        Optional<ByOperator> byOperator = Optional.empty();
        if (json.hasNext()) {
            int operator = json.expect("operator").nextInt();
            double share = Double.parseDouble(json.expect("share").nextString());
            byOperator = Optional.of(new ByOperator(operator, share));
        }
        json.endObject();
        return new OutputError(type, deviation, noise, headroom, byOperator);
    }

    private static Deviation deviation(CheckedJson json) throws IOException {
        List<String> parts = json.list(DEVIATION_PARTS, json::nextString);
        if (parts.size() != DEVIATION_PARTS) {
            throw new IOException("a deviation of " + parts.size() + " parts");
        }
        return new Deviation(
                Double.parseDouble(parts.get(0)),
                Double.parseDouble(parts.get(1)),
                Integer.parseInt(parts.get(2)));
    }
}
