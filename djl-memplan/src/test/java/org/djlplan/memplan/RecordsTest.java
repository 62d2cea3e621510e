package org.djlplan.memplan;

import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.FileRegion;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.budget.BudgetShares;
import org.djlplan.memplan.internal.budget.StepCosts;
import org.djlplan.memplan.internal.budget.StreamingPlan;
import org.djlplan.memplan.internal.budget.WeightTrace;
import org.djlplan.memplan.internal.budget.WeightUse;
import org.djlplan.memplan.internal.config.InputShape;
import org.djlplan.memplan.internal.config.RequestOptions;
import org.djlplan.memplan.internal.config.Warmup;
import org.djlplan.memplan.internal.slicing.SliceDecision;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.internal.usage.Allocation;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.PairedRatio;
import org.djlplan.memplan.spi.Precision;
import org.djlplan.memplan.spi.ShapeMix;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that records refuse values that nothing can have, such as a damaged file's. */
class RecordsTest {

    private static final OptionalInt NEVER = OptionalInt.empty();
    private static final ImmutableLongArray ONE = ImmutableLongArray.of(1);
    private static final WeightUse USE = new WeightUse(0, 0, 0, WeightUse.PAGE_BYTES);

    private static Stream<Executable> graphs() {
        return Stream.of(
                () -> new ArrayType("", List.of()),
                () -> new ArrayType("f", List.of(-1L)),
                () -> tensor(0, -1),
                () -> operator(-1),
                () -> new Graph("g", List.of(), List.of(tensor(1, 0)), List.of(), List.of()),
                () -> new Graph("g", List.of(operator(1)), List.of(), List.of(), List.of()),
                () -> new Graph("g", List.of(), List.of(), List.of(0), List.of()),
                () -> new Graph("g", List.of(), List.of(), List.of(), List.of(-1)));
    }

    private static Tensor tensor(int id, long bytes) {
        Optional<FileRegion> none = Optional.empty();
        return new Tensor(id, "t", ElementType.INT8, List.of(), bytes, Storage.INTERMEDIATE, none);
    }

    private static Operator operator(int index) {
        return new Operator(index, "ADD", List.of(), List.of(), List.of(), Optional.empty());
    }

    private static Stream<Executable> plans() {
        UsageRecord record = new UsageRecord(0, 0, 1, 64);
        List<UsageRecord> records = List.of(record);
        return Stream.of(
                () -> new UsageRecord(-1, 0, 1, 64),
                () -> new UsageRecord(0, -1, 1, 64),
                () -> new UsageRecord(0, 2, 1, 64),
                () -> new UsageRecord(0, 0, 1, 0),
                () -> new PlanningProblem(List.of(record, record)),
                () -> new PlanningProblem(records, List.of(List.of(0))),
                () -> new PlanningProblem(records, List.of(List.of(0, 1))),
                () -> new Allocation(-1, 0, NEVER),
                () -> new Allocation(0, -1, NEVER),
                () -> new Allocation(0, 1, OptionalInt.of(1)),
                () -> new SliceDecision(-1, List.of(1), List.of(1)),
                () -> new SliceDecision(0, List.of(), List.of(1)),
                () -> new SliceDecision(0, List.of(1), List.of()),
                () -> new SliceDecision(0, List.of(0), List.of(1)),
                () -> new SliceDecision(0, List.of(1), List.of(0)),
                () -> new WeightUse(-1, 0, 0, WeightUse.PAGE_BYTES),
                () -> new WeightUse(0, -1, 0, WeightUse.PAGE_BYTES),
                () -> new StepCosts(ONE, 1, -1),
                () -> new StepCosts(ONE, Double.POSITIVE_INFINITY, 0),
                () -> new StepCosts(ImmutableLongArray.of(-1), 1, 0),
                () -> new BudgetShares.Claim(-1, 0),
                () -> new BudgetShares.Claim(0, -1),
                () -> new StreamingPlan.Load(-1, 0, 0, false),
                () -> new StreamingPlan.Load(0, 0, -1, false),
                () -> new StreamingPlan.Load(0, -1, 0, false),
                () -> new StreamingPlan.Load(0, 0, 1, true),
                () -> new WeightTrace.Range(-1, 0),
                () -> new WeightTrace.Lookup(new WeightTrace.Range(0, 0), 1, 0, 1),
                () -> trace(ImmutableLongArray.of()),
                () -> trace(ONE, USE));
    }

    private static WeightTrace trace(ImmutableLongArray steps, WeightUse... uses) {
        return new WeightTrace(List.of(), steps, steps, List.of(uses), List.of());
    }

    private static Stream<Executable> choices() {
        return Stream.of(
                () -> new StoreKey("", Map.of()),
                () -> new RequestOptions(NEVER, 0, 1, NEVER),
                () -> new RequestOptions(NEVER, 1, 0, NEVER),
                () -> new Warmup(false, List.of(new InputShape(List.of(), "float32"))),
                () -> new PairedRatio(1, 0, 1),
                () -> new PairedRatio.Noise(-1, 1),
                () -> new PairedRatio.Noise(1, 0),
                () -> new Precision("int8", 2),
                () -> new ShapeMix(List.of(), 1),
                () -> new ShapeMix(List.of(List.of(List.of(1))), 0),
                () -> new CandidateRunner.Trial(-1, List.of(), 0, 0),
                () -> new CandidateRunner.Trial(0, List.of(), -1, 0),
                () -> new CandidateRunner.Trial(0, List.of(), 0, -1),
                () -> new CandidateRunner.NodeTime(new TreeSet<>(), false, 0),
                () -> new CandidateRunner.NodeTime(new TreeSet<>(Set.of(0)), false, -1));
    }

    @ParameterizedTest
    @MethodSource({"graphs", "plans", "choices"})
    void create_impossibleValue_isRefused(Executable creation) {
        assertThrows(IllegalArgumentException.class, creation);
    }
}
