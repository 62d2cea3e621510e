package org.djlplan.memplan.internal.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.plan.OffsetPlan;
import org.djlplan.memplan.internal.plan.OffsetStrategy;
import org.djlplan.memplan.internal.plan.greedy.GreedyByBreadth;
import org.djlplan.memplan.internal.plan.greedy.GreedyBySize;
import org.djlplan.memplan.internal.plan.greedy.Naive;
import org.djlplan.memplan.internal.source.block.LivenessTrace;
import org.djlplan.memplan.internal.source.trace.Allocation;
import org.djlplan.memplan.internal.source.trace.AllocationTrace;

/** Plans to store, small or random. */
final class SamplePlans {

    static final StoreKey KEY = key("resnet18", "1x3x224x224:float32");

    static final StoredFile<StoredPlan> FORMAT = new StoredFile<>(new PlanCodec());

    private SamplePlans() {}

    static StoreKey key(String model, String input) {
        return new StoreKey(model, Map.of("engine", "PyTorch 2.1.1", "input", input));
    }

    /** Three arrays; allocations 0 and 3 overlap in time, 1 is empty, 2 escapes. */
    static StoredPlan small() {
        LivenessTrace liveness =
                new LivenessTrace(
                        List.of(
                                array(OptionalInt.of(1), 1L, 64L, 112L, 112L),
                                array(OptionalInt.of(3), 1L, 64L),
                                array(OptionalInt.empty())));
        return new StoredPlan(
                Optional.of(liveness),
                Optional.of(
                        planned(
                                new Allocation(3211264, 0, OptionalInt.of(5)),
                                new Allocation(0, 1, OptionalInt.of(2)),
                                new Allocation(4, 3, OptionalInt.empty()),
                                new Allocation(1000, 4, OptionalInt.of(6)))));
    }

    /** A plan with one array, whose size distinguishes the plan. */
    static StoredPlan ofSize(long size) {
        LivenessTrace liveness = new LivenessTrace(List.of(array(OptionalInt.empty(), size)));
        return new StoredPlan(Optional.of(liveness), Optional.empty());
    }

    static StoredPlan.Allocations planned(Allocation... allocations) {
        AllocationTrace trace = new AllocationTrace(List.of(allocations));
        return new StoredPlan.Allocations(trace, new GreedyBySize().plan(trace.problem()));
    }

    private static LivenessTrace.Array array(OptionalInt closedAt, Long... shape) {
        return new LivenessTrace.Array(new ArrayType("float32", List.of(shape)), closedAt);
    }

    /** A planning problem has no {@code equals}, so its units are compared. */
    static void assertSame(StoredPlan expected, StoredPlan actual) {
        assertEquals(expected.liveness(), actual.liveness());
        assertEquals(expected.allocations().isPresent(), actual.allocations().isPresent());
        if (expected.allocations().isPresent()) {
            StoredPlan.Allocations ours = expected.allocations().get();
            StoredPlan.Allocations theirs = actual.allocations().orElseThrow();
            assertEquals(ours.trace(), theirs.trace());
            OffsetPlan one = ours.plan();
            OffsetPlan other = theirs.plan();
            assertEquals(one.strategy(), other.strategy());
            assertEquals(one.unitOffsets(), other.unitOffsets());
            assertEquals(one.problem().units(), other.problem().units());
        }
    }

    static Arbitrary<StoredPlan> any() {
        return Combinators.combine(liveness().optional(), allocations().optional())
                .as(StoredPlan::new);
    }

    static Arbitrary<StoreKey> anyKey() {
        Arbitrary<String> texts = Arbitraries.strings().ofMaxLength(12).filter(SamplePlans::isText);
        return Combinators.combine(
                        texts.filter(text -> !text.isEmpty()),
                        Arbitraries.maps(texts, texts).ofMaxSize(5))
                .as(StoreKey::new);
    }

    private static boolean isText(String text) {
        return text.codePoints().noneMatch(c -> c >= 0xd800 && c < 0xe000);
    }

    private static Arbitrary<LivenessTrace> liveness() {
        Arbitrary<List<Long>> shapes =
                Arbitraries.longs().between(0, Long.MAX_VALUE).list().ofMaxSize(5);
        Arbitrary<ArrayType> types =
                Combinators.combine(Arbitraries.of("float32", "int64", "boolean"), shapes)
                        .as(ArrayType::new);
        return Combinators.combine(
                        types.list().ofMaxSize(30),
                        Arbitraries.integers().between(0, 30).list().ofSize(30))
                .as(SamplePlans::liveness);
    }

    private static LivenessTrace liveness(List<ArrayType> types, List<Integer> distances) {
        List<LivenessTrace.Array> arrays = new ArrayList<>();
        for (int i = 0; i < types.size(); i++) {
            int closedAt = i + distances.get(i);
            boolean closed = closedAt > i && closedAt <= types.size();
            arrays.add(
                    new LivenessTrace.Array(
                            types.get(i), closed ? OptionalInt.of(closedAt) : OptionalInt.empty()));
        }
        return new LivenessTrace(arrays);
    }

    private static Arbitrary<StoredPlan.Allocations> allocations() {
        Arbitrary<Long> sizes =
                Arbitraries.oneOf(
                        Arbitraries.of(0L, 1L, 63L, 64L, 65L, 1L << 25),
                        Arbitraries.longs().between(0, 10_000_000));
        return Combinators.combine(
                        sizes.list().ofMaxSize(40),
                        Arbitraries.integers().between(0, 60).list().ofSize(40),
                        Arbitraries.of(new GreedyBySize(), new GreedyByBreadth(), new Naive()))
                .as(SamplePlans::allocations);
    }

    /** Makes a long-lived allocation end after the trace, which means never. */
    private static StoredPlan.Allocations allocations(
            List<Long> sizes, List<Integer> lives, OffsetStrategy strategy) {
        List<Allocation> allocations = new ArrayList<>();
        for (int i = 0; i < sizes.size(); i++) {
            int freedAt = 2 * (i + lives.get(i)) + 1;
            allocations.add(
                    new Allocation(
                            sizes.get(i),
                            2 * i,
                            freedAt < 2 * sizes.size()
                                    ? OptionalInt.of(freedAt)
                                    : OptionalInt.empty()));
        }
        AllocationTrace trace = new AllocationTrace(allocations);
        return new StoredPlan.Allocations(trace, strategy.plan(trace.problem()));
    }
}
