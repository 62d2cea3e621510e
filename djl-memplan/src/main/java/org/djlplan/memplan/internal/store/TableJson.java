package org.djlplan.memplan.internal.store;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.SortedSet;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/**
 * Reads and writes sets of operators in the files of measurements, as JSON.
 *
 * <p>A set is written as the first and last index of every run. The total number of operators read
 * from a file is limited, so that a small text cannot become a large value.
 */
public final class TableJson {

    /** Limit of the operators of all sets of a file. */
    public static final int MOST_MENTIONS = 1 << 21;

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

    /** Writes the fields of a candidate. */
    public void write(JsonWriter json, Candidate candidate) throws IOException {
        write(json.name("operators"), candidate.operators());
        json.name("threads").value(candidate.threads());
        json.name("transientBuffers").value(candidate.transientBuffers());
    }

    /** Reads the fields of a candidate. */
    public Candidate readCandidate(CheckedJson json) throws IOException {
        SortedSet<Integer> taken = read(json.expect("operators"));
        int threads = json.expect("threads").nextInt();
        return new Candidate(taken, threads, json.expect("transientBuffers").nextBoolean());
    }

    /** Reads a set. */
    public SortedSet<Integer> read(CheckedJson json) throws IOException {
        ImmutableLongArray ends = json.numbers(2 * operators);
        ImmutableSortedSet.Builder<Integer> all = ImmutableSortedSet.naturalOrder();
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
        return all.build();
    }
}
