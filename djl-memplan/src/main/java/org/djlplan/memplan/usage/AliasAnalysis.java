package org.djlplan.memplan.usage;

import com.google.common.collect.ImmutableList;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Tensor;

/**
 * Finds the tensors that may share one place because an operator writes over its input or only
 * views it, by the table in {@link InPlaceRules}.
 *
 * <p>Operators are visited in execution order. At any moment all members of an alias class that are
 * still alive have the same content: a view joins with equal content, and an operator overwrites
 * only where it is the last use of every member, which leaves its output as the only one alive.
 *
 * <p>Only tensors that have a usage record and are written once, by the first operator that touches
 * them, ever join: never an input or output of the graph, a constant, a variable, or an operator's
 * temporary.
 */
public final class AliasAnalysis {

    /** The tensors that share one place, and the last operator that uses any of them. */
    private static final class AliasClass {
        private final List<Integer> members = new ArrayList<>();
        private int last;

        private AliasClass(UsageRecord founder) {
            add(founder);
        }

        private void add(UsageRecord record) {
            members.add(record.tensor());
            last = Math.max(last, record.last());
        }
    }

    private final Graph graph;
    private final Map<Integer, UsageRecord> records = new HashMap<>();
    private final Map<Integer, AliasClass> classOf = new HashMap<>();

    private AliasAnalysis(Graph graph) {
        this.graph = graph;
        int[] writers = new int[graph.tensors().size()];
        int[] written = new int[writers.length];
        for (Operator operator : graph.operators()) {
            for (int id : operator.outputs()) {
                writers[id]++;
                written[id] = operator.index();
            }
            // A temporary is no result: whatever the kernel leaves there, nothing may rely on it.
            operator.temporaries().forEach(id -> writers[id] += 2);
        }
        for (UsageRecord record : UsageRecords.of(graph)) {
            int id = record.tensor();
            if (writers[id] == 1 && written[id] == record.first()) {
                records.put(id, record);
            }
        }
    }

    /** Returns the alias classes of {@code graph}, each sorted by tensor id, by smallest id. */
    public static ImmutableList<ImmutableList<Integer>> aliasClasses(Graph graph) {
        return aliasClasses(graph, operator -> true);
    }

    /**
     * Returns the alias classes when only the operators that {@code where} admits, by index, write
     * over their inputs or view them.
     */
    public static ImmutableList<ImmutableList<Integer>> aliasClasses(
            Graph graph, IntPredicate where) {
        AliasAnalysis analysis = new AliasAnalysis(graph);
        for (Operator operator : graph.operators()) {
            if (where.test(operator.index())) {
                analysis.visit(operator);
            }
        }
        return analysis.classOf.values().stream()
                .distinct()
                .map(found -> ImmutableList.sortedCopyOf(found.members))
                .sorted(Comparator.comparing(members -> members.get(0)))
                .collect(ImmutableList.toImmutableList());
    }

    private void visit(Operator operator) {
        if (operator.outputs().size() != 1) {
            return;
        }
        Tensor output = graph.tensors().get(operator.outputs().get(0));
        UsageRecord record = records.get(output.id());
        if (record == null || operator.inputs().contains(output.id())) {
            return;
        }
        InPlaceRules.find(operator.type(), output.type())
                .flatMap(rule -> inputToShare(operator, output, rule.kind()))
                .ifPresent(input -> join(input, record));
    }

    private Optional<Integer> inputToShare(
            Operator operator, Tensor output, InPlaceRules.Kind kind) {
        int candidates = kind == InPlaceRules.Kind.OVERWRITES_EITHER ? 2 : 1;
        return operator.inputs().stream()
                .limit(candidates)
                .filter(
                        input ->
                                sharable(input, operator, output)
                                        && (kind == InPlaceRules.Kind.VIEW
                                                || overwritable(input, operator, output)))
                .findFirst();
    }

    private boolean sharable(int id, Operator operator, Tensor output) {
        Tensor input = graph.tensors().get(id);
        UsageRecord record = records.get(id);
        return record != null
                && record.first() < operator.index()
                && input.type() == output.type()
                && input.bytes() == output.bytes();
    }

    /**
     * Whether writing {@code output} over {@code id} destroys nothing that is read later, nor
     * anything this operator itself reads in another order: an operand in the same class (the same
     * tensor, or a view of it) must be indexed exactly as the output is.
     */
    private boolean overwritable(int id, Operator operator, Tensor output) {
        AliasClass shared = classOf.get(id);
        int last = shared == null ? records.get(id).last() : shared.last;
        return last == operator.index()
                && sameShape(id, output)
                && IntStream.range(0, operator.inputs().size())
                        .map(i -> operator.inputs().get(i))
                        .filter(other -> shared != null && classOf.get(other) == shared)
                        .allMatch(other -> sameShape(other, output));
    }

    private boolean sameShape(int id, Tensor output) {
        return graph.tensors().get(id).shape().equals(output.shape());
    }

    private void join(int input, UsageRecord output) {
        AliasClass shared = classOf.computeIfAbsent(input, id -> new AliasClass(records.get(id)));
        shared.add(output);
        classOf.put(output.tensor(), shared);
    }
}
