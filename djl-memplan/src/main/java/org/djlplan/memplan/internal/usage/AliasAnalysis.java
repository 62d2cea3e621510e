package org.djlplan.memplan.internal.usage;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.IntPredicate;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Operator.InPlace;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.usage.InPlaceRules.Rule;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Finds tensors that may share one place because an operator overwrites its input or only views it:
 * as reported by the engine or, for an engine that does not report it, according to {@link
 * InPlaceRules}.
 *
 * <p>Operators are visited in execution order. At any moment all live members of an alias class
 * have the same content: a view that joins has the class's content, and an operator overwrites only
 * if all other uses of every member have ended, so that its output is the only live member. Whether
 * a use has ended depends on the order of operators: execution order, or data dependencies alone
 * for an engine that runs branches at once.
 *
 * <p>Only tensors with a usage record that are written once, by the first operator that uses them,
 * can join: never an input or output of the graph, a constant, a variable, or an operator's
 * temporary.
 */
public final class AliasAnalysis {

    /** An order of operators: which of them are certain to end before another one begins. */
    @FunctionalInterface
    public interface Precedence {

        /** One operator after another, in execution order. */
        Precedence SERIAL = (operator, other) -> operator < other;

        /** Returns whether {@code operator} ends before {@code other} begins; both by index. */
        boolean precedes(int operator, int other);
    }

    /** Tensors that share one place, and the operators that use the place's current content. */
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
    private final NavigableMap<Integer, AliasClass> classOf = new TreeMap<>();

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
            // A temporary is not a result: nothing may depend on its content after the kernel.
            for (int id : operator.temporaries()) {
                writers[id] += 2;
            }
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
        return aliasClasses(graph, operator -> true, Precedence.SERIAL);
    }

    /**
     * Returns the alias classes for operators that run in any order that {@code order} allows.
     *
     * @param where the operators, by index, that may overwrite their inputs or view them
     */
    public static ImmutableList<ImmutableList<Integer>> aliasClasses(
            Graph graph, IntPredicate where, Precedence order) {
        AliasAnalysis analysis = new AliasAnalysis(graph, order);
        for (Operator operator : graph.operators()) {
            if (where.test(operator.index())) {
                analysis.visit(operator);
            }
        }
        ImmutableList.Builder<ImmutableList<Integer>> classes = ImmutableList.builder();
        for (AliasClass found : new LinkedHashSet<>(analysis.classOf.values())) {
            classes.add(ImmutableList.sortedCopyOf(found.members));
        }
        return classes.build();
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
                .ifPresent(allowed -> share(operator, output, allowed));
    }

    /** Joins the output with the first input that allows it, if there is one. */
    private void share(Operator operator, Tensor output, InPlace allowed) {
        for (int i = 0; i < operator.inputs().size(); i++) {
            int input = operator.inputs().get(i);
            if (allowed.inputs().contains(i)
                    && sharable(input, operator, output)
                    && (allowed.copies() || overwritable(input, operator, output))) {
                join(input, output.id(), allowed.copies());
                return;
            }
        }
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
     * Returns whether writing {@code output} over {@code id} destroys nothing that other operators
     * still read, and nothing that this operator itself reads in another order: an operand in the
     * same class (the same tensor, or a view of it) must be indexed exactly like the output.
     */
    private boolean overwritable(int id, Operator operator, Tensor output) {
        AliasClass shared = classOf.get(id);
        int writer = operator.index();
        for (int user : shared == null ? users.get(id) : shared.users) {
            if (user != writer && !order.precedes(user, writer)) {
                return false;
            }
        }
        for (int other : operator.inputs()) {
            if (shared != null && classOf.get(other) == shared && !sameShape(other, output)) {
                return false;
            }
        }
        return sameShape(id, output);
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
            // All of them precede the users of the output.
            shared.users.clear();
        }
        shared.add(output, users.get(output));
        classOf.put(output, shared);
    }
}
