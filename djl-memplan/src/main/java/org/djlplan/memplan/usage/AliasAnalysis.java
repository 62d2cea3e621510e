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
import org.djlplan.memplan.graph.Operator.InPlace;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.usage.InPlaceRules.Rule;

/**
 * Finds the tensors that may share one place because an operator writes over its input or only
 * views it: as the engine tells, or, for one that does not, by the table in {@link InPlaceRules}.
 *
 * <p>Operators are visited in execution order. At any moment all members of an alias class that are
 * still alive have the same content: a view joins with equal content, and an operator overwrites
 * only where all other uses of every member have ended, which leaves its output as the only one
 * alive. What has ended depends on the order of operators: execution order, or, for an engine that
 * runs branches at once, data dependencies alone.
 *
 * <p>Only tensors that have a usage record and are written once, by the first operator that touches
 * them, ever join: never an input or output of the graph, a constant, a variable, or an operator's
 * temporary.
 */
public final class AliasAnalysis {

    /** An order of operators: which of them surely have ended before another one begins. */
    @FunctionalInterface
    public interface Precedence {

        /** One operator after another, in execution order. */
        Precedence SERIAL = (operator, other) -> operator < other;

        /** Returns whether {@code operator} ends before {@code other} begins; both by index. */
        boolean precedes(int operator, int other);
    }

    /** The tensors that share one place, and the operators that use those with its content. */
    private static final class AliasClass {
        private final List<Integer> members = new ArrayList<>();
        private final List<Integer> users = new ArrayList<>();

        private void add(int tensor, List<Integer> usersOfTensor) {
            members.add(tensor);
            users.addAll(usersOfTensor);
        }
    }

    private final Graph graph;
    private final Precedence order;
    private final List<List<Integer>> users;
    private final Map<Integer, UsageRecord> records = new HashMap<>();
    private final Map<Integer, AliasClass> classOf = new HashMap<>();

    private AliasAnalysis(Graph graph, Precedence order) {
        this.graph = graph;
        this.order = order;
        users = UsageRecords.usersOf(graph);
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
        return aliasClasses(graph, where, Precedence.SERIAL);
    }

    /**
     * Returns the alias classes when operators run in any order that {@code order} admits.
     *
     * @param where the operators, by index, that may write over their inputs or view them
     */
    public static ImmutableList<ImmutableList<Integer>> aliasClasses(
            Graph graph, IntPredicate where, Precedence order) {
        AliasAnalysis analysis = new AliasAnalysis(graph, order);
        for (Operator operator : graph.operators()) {
            if (where.test(operator.index())) {
                analysis.visit(operator);
            }
        }
        return ImmutableList.copyOf(
                analysis.classOf.values().stream()
                        .distinct()
                        .map(found -> ImmutableList.sortedCopyOf(found.members))
                        .sorted(Comparator.comparing(members -> members.get(0)))
                        .toList());
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
        operator.inPlace()
                .or(() -> InPlaceRules.find(operator.type(), output.type()).map(Rule::inPlace))
                .ifPresent(
                        allowed ->
                                inputToShare(operator, output, allowed)
                                        .ifPresent(
                                                input ->
                                                        join(
                                                                input,
                                                                output.id(),
                                                                allowed.copies())));
    }

    private Optional<Integer> inputToShare(Operator operator, Tensor output, InPlace allowed) {
        return IntStream.range(0, operator.inputs().size())
                .filter(allowed.inputs()::contains)
                .mapToObj(operator.inputs()::get)
                .filter(
                        input ->
                                sharable(input, operator, output)
                                        && (allowed.copies()
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
     * Whether writing {@code output} over {@code id} destroys nothing that others still read, nor
     * anything this operator itself reads in another order: an operand in the same class (the same
     * tensor, or a view of it) must be indexed exactly as the output is.
     */
    private boolean overwritable(int id, Operator operator, Tensor output) {
        AliasClass shared = classOf.get(id);
        int writer = operator.index();
        return (shared == null ? users.get(id) : shared.users)
                        .stream().allMatch(user -> user == writer || order.precedes(user, writer))
                && sameShape(id, output)
                && IntStream.range(0, operator.inputs().size())
                        .map(i -> operator.inputs().get(i))
                        .filter(other -> shared != null && classOf.get(other) == shared)
                        .allMatch(other -> sameShape(other, output));
    }

    private boolean sameShape(int id, Tensor output) {
        return graph.tensors().get(id).shape().equals(output.shape());
    }

    private void join(int input, int output, boolean copies) {
        AliasClass shared = classOf.get(input);
        if (shared == null) {
            shared = new AliasClass();
            shared.add(input, users.get(input));
            classOf.put(input, shared);
        }
        if (!copies) {
            // They all precede whatever uses the output.
            shared.users.clear();
        }
        shared.add(output, users.get(output));
        classOf.put(output, shared);
    }
}
