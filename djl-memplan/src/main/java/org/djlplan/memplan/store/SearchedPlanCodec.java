package org.djlplan.memplan.store;

import static com.google.common.base.Preconditions.checkArgument;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.primitives.ImmutableLongArray;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.regex.Pattern;
import org.djlplan.memplan.plan.OffsetPlan;
import org.djlplan.memplan.plan.PlanValidator;
import org.djlplan.memplan.plan.Violation;
import org.djlplan.memplan.usage.PlanningProblem;
import org.djlplan.memplan.usage.UsageRecord;
import org.djlplan.memplan.usage.UsageRecords;

/**
 * Plans that a search found, in files, with the usage records that they are for. Shown here on
 * several lines, written on one:
 *
 * <pre>{@code
 * {"strategy":"exact-search","provedMinimal":true,"searchedMillis":10000,
 *  "tensor":[4,7,8],"first":[0,1,2],"last":[1,2,3],"bytes":[1024,512,512],
 *  "offset":[0,1024,1024],"aliases":[[7,8]]}
 * }</pre>
 *
 * <p>The first five arrays of numbers are parallel, by tensor id; {@code aliases} are the sets of
 * tensors that share one place.
 */
public final class SearchedPlanCodec implements Codec<SearchedPlan> {

    /** Most tensors or allocations of a plan: checking it takes time quadratic in these. */
    static final int MOST_ENTRIES = 1 << 16;

    private static final Pattern STRATEGY = Pattern.compile("[a-z0-9-]{1,64}");

    @Override
    public String kind() {
        return "searched-plan";
    }

    @Override
    public int version() {
        return 1;
    }

    @Override
    public String ending() {
        return ".searched.json";
    }

    @Override
    public void write(JsonWriter json, SearchedPlan searched) throws IOException {
        OffsetPlan plan = searched.plan();
        List<UsageRecord> records = plan.problem().records();
        json.beginObject();
        begin(json, searched);
        numbers(json.name("tensor"), records, UsageRecord::tensor);
        numbers(json.name("first"), records, UsageRecord::first);
        numbers(json.name("last"), records, UsageRecord::last);
        numbers(json.name("bytes"), records, UsageRecord::bytes);
        numbers(json.name("offset"), records, record -> plan.offsetOf(record.tensor()));
        json.name("aliases").beginArray();
        for (List<Integer> members : plan.problem().aliasClasses()) {
            numbers(json, members, tensor -> tensor);
        }
        json.endArray().endObject();
    }

    /** Writes what the files of all plans have in common. */
    static void begin(JsonWriter json, SearchedPlan searched) throws IOException {
        json.name("strategy").value(searched.plan().strategy());
        json.name("provedMinimal").value(searched.provedMinimal());
        json.name("searchedMillis").value(searched.searchedMillis());
    }

    /** The part of a file that {@link #begin} wrote. */
    record Beginning(String strategy, boolean provedMinimal, long searchedMillis) {

        static Beginning read(CheckedJson json) throws IOException {
            return new Beginning(
                    json.expect("strategy").nextString(),
                    json.expect("provedMinimal").nextBoolean(),
                    json.expect("searchedMillis").nextLong());
        }

        SearchedPlan of(OffsetPlan plan) {
            return new SearchedPlan(plan, provedMinimal, searchedMillis);
        }
    }

    /** Writes an array with a number for each element. */
    static <T> void numbers(JsonWriter json, List<T> of, ToLongFunction<T> number)
            throws IOException {
        checkArgument(of.size() <= MOST_ENTRIES, "%s entries", of.size());
        json.beginArray();
        for (T each : of) {
            json.value(number.applyAsLong(each));
        }
        json.endArray();
    }

    @Override
    public SearchedPlan read(CheckedJson json) throws IOException {
        json.beginObject();
        Beginning beginning = Beginning.read(json);
        ImmutableLongArray tensor = numbers(json, "tensor");
        ImmutableLongArray first = numbers(json, "first");
        ImmutableLongArray last = numbers(json, "last");
        ImmutableLongArray bytes = numbers(json, "bytes");
        ImmutableLongArray offset = numbers(json, "offset");
        List<List<Integer>> aliases =
                json.expect("aliases").list(MOST_ENTRIES, () -> ids(json.numbers(MOST_ENTRIES)));
        json.endObject();
        int count = sameLength(tensor, first, last, bytes, offset);
        ImmutableList.Builder<UsageRecord> records = ImmutableList.builder();
        ImmutableMap.Builder<Integer, Long> offsets = ImmutableMap.builder();
        for (int i = 0; i < count; i++) {
            int id = Math.toIntExact(tensor.get(i));
            records.add(
                    new UsageRecord(
                            id,
                            Math.toIntExact(first.get(i)),
                            Math.toIntExact(last.get(i)),
                            bytes.get(i)));
            offsets.put(id, offset.get(i));
        }
        PlanningProblem problem = new PlanningProblem(records.build(), aliases);
        return beginning.of(plan(beginning.strategy(), problem, offsets.buildOrThrow()));
    }

    private static OffsetPlan plan(
            String strategy, PlanningProblem problem, Map<Integer, Long> offsets)
            throws IOException {
        ImmutableMap.Builder<Integer, Long> unitOffsets = ImmutableMap.builder();
        for (UsageRecord unit : problem.units()) {
            unitOffsets.put(unit.tensor(), offsets.get(unit.tensor()));
        }
        OffsetPlan plan = new OffsetPlan(strategy, problem, unitOffsets.buildOrThrow());
        for (Map.Entry<Integer, Long> offset : offsets.entrySet()) {
            if (plan.offsetOf(offset.getKey()) != offset.getValue()) {
                throw new IOException("tensor " + offset.getKey() + " lies apart from its aliases");
            }
        }
        return plan;
    }

    /** Reads an array of numbers that comes next. */
    static ImmutableLongArray numbers(CheckedJson json, String name) throws IOException {
        return json.expect(name).numbers(MOST_ENTRIES);
    }

    /** Returns the length that all arrays have. */
    static int sameLength(ImmutableLongArray... parallel) throws IOException {
        int length = parallel[0].length();
        for (ImmutableLongArray other : parallel) {
            if (other.length() != length) {
                throw new IOException("parallel arrays of " + length + " and " + other.length());
            }
        }
        return length;
    }

    private static List<Integer> ids(ImmutableLongArray numbers) {
        return numbers.asList().stream().map(Math::toIntExact).toList();
    }

    @Override
    public void check(SearchedPlan searched) throws IOException {
        check(searched.plan(), "tensor ");
    }

    /**
     * Checks that a plan is valid and no larger than without sharing.
     *
     * @param element for people: what has the numbers, such as a tensor
     */
    static void check(OffsetPlan plan, String element) throws IOException {
        if (!STRATEGY.matcher(plan.strategy()).matches()) {
            throw new IOException("a strategy of no such name");
        }
        List<Violation> violations = PlanValidator.violations(plan, UsageRecords.ALIGNMENT_BYTES);
        if (!violations.isEmpty()) {
            Violation first = violations.get(0);
            throw new IOException(
                    first.describe(first.tensors().stream().map(id -> element + id).toList()));
        }
        if (plan.totalBytes() > UsageRecords.naiveBytes(plan.problem().records())) {
            throw new IOException("an arena of " + plan.totalBytes() + " bytes, more than naive");
        }
    }
}
