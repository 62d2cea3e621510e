package org.djlplan.memplan.internal.djl.purity;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.stream.BaseStream;
import org.djlplan.memplan.internal.djl.purity.Calls.Callee;
import org.djlplan.thirdparty.asm.Type;
import org.djlplan.thirdparty.asm.tree.InvokeDynamicInsnNode;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Calls of methods of the JDK and of DJL's arrays, whose effects are stated instead of analyzed. A
 * call's effect is applied to the caller's objects according to its {@link Fact}. Functions passed
 * to such a method are analyzed, because the method may call them.
 */
final class StatedCalls {

    private final CodeReader code;
    private final Class<?> caller;
    private final Calls calls;
    private final MethodObjects objects;
    private final int instructions;

    /**
     * @param calls analyzes the functions
     * @param instructions number of instructions of the caller
     */
    StatedCalls(
            CodeReader code,
            Class<?> caller,
            Calls calls,
            MethodObjects objects,
            int instructions) {
        this.code = code;
        this.caller = caller;
        this.calls = calls;
        this.objects = objects;
        this.instructions = instructions;
    }

    /** Applies a call of a method with stated effects. */
    Value call(int index, Callee callee, List<Value> operands, boolean isVirtual) {
        Class<?> owner = callee.owner();
        if (JdkFacts.isFunction(owner) && callee.name().equals("identity")) {
            return identity(index, owner);
        }
        if (isVirtual && JdkFacts.isFunction(owner) && Calls.isAbstract(callee)) {
            Value result = Value.PLAIN;
            for (MethodObjects.Function function : objects.functionsIn(operands.get(0), owner)) {
                result =
                        result.or(
                                calls.apply(index, function, operands.subList(1, operands.size())));
            }
            if (objects.functionsIn(operands.get(0), owner).isEmpty()
                    && code.receivers(owner).isEmpty()) {
                code.find(
                        Finding.Kind.OPAQUE,
                        caller,
                        "calls a " + owner.getSimpleName() + " that is not known");
            }
            return result;
        }
        Optional<Fact> fact =
                JdkFacts.cover(owner)
                        ? JdkFacts.of(owner, callee.name(), callee.descriptor())
                        : DjlFacts.of(
                                owner,
                                callee.name(),
                                callee.descriptor(),
                                isFlagged(callee, operands));
        if (fact.isEmpty()) {
            code.find(
                    Finding.Kind.OPAQUE,
                    caller,
                    "calls " + Calls.name(callee) + ", of which nothing is known");
            return Value.shared();
        }
        fact.get()
                .finding()
                .ifPresent(finding -> code.find(finding.kind(), caller, finding.what()));
        Optional<Value> called = callFunctions(index, callee, operands);
        Value result = carryOut(index, fact.get().effect(), callee, operands, called);
        return fillArguments(callee, operands).map(result::or).orElse(result);
    }

    /**
     * Applies the effect on arrays that a method is given to write into.
     *
     * @return the array, if the method may return it
     */
    private Optional<Value> fillArguments(Callee callee, List<Value> operands) {
        Class<?> owner = callee.owner();
        if (!JdkFacts.cover(owner) && !Iterable.class.isAssignableFrom(owner)) {
            return Optional.empty();
        }
        Optional<Value> returned = Optional.empty();
        Type[] types = Type.getArgumentTypes(callee.descriptor());
        int firstArgument = operands.size() - types.length;
        for (int i = 0; i < types.length; i++) {
            Value argument = operands.get(firstArgument + i);
            if (JdkFacts.fills(owner, callee.name(), types[i])) {
                objects.change(argument, changed(callee));
                if (hasElements(types[i])) {
                    objects.store(argument, objects.read(operands.get(0)));
                }
                if (types[i].equals(Type.getReturnType(callee.descriptor()))) {
                    returned = Optional.of(argument);
                }
            }
        }
        return returned;
    }

    private static boolean hasElements(Type type) {
        return type.getSort() == Type.ARRAY
                && CodeReader.isReference(Type.getType(type.getDescriptor().substring(1)));
    }

    private Finding changed(Callee callee) {
        return new Finding(
                Finding.Kind.EFFECT,
                caller.getName(),
                "changes by " + Calls.name(callee) + " what it did not make");
    }

    /** Returns the function that returns its argument, whose code is the JDK's. */
    private Value identity(int index, Class<?> owner) {
        Optional<InvokeDynamicInsnNode> site =
                ClassFile.of(owner).flatMap(file -> file.lambda("identity"));
        if (site.isEmpty()) {
            code.find(Finding.Kind.OPAQUE, caller, "calls a function that is not known");
            return Value.shared();
        }
        return objects.function(index, CodeReader.lambda(owner, site.get()), ImmutableList.of());
    }

    private static boolean isFlagged(Callee callee, List<Value> operands) {
        Type[] types = Type.getArgumentTypes(callee.descriptor());
        int first = operands.size() - types.length;
        for (int i = 0; i < types.length; i++) {
            if (types[i].getSort() == Type.BOOLEAN
                    && isTraining(callee, i)
                    && operands.get(first + i).constant().orElse(1) != 0) {
                return true;
            }
        }
        return false;
    }

    private static boolean isStatic(Callee callee, List<Value> operands) {
        return operands.size() == Type.getArgumentTypes(callee.descriptor()).length;
    }

    /** Returns which flag means training: the only one, or for recurrent networks the second. */
    private static boolean isTraining(Callee callee, int position) {
        boolean recurrent =
                callee.name().equals("rnn")
                        || callee.name().equals("lstm")
                        || callee.name().equals("gru");
        if (!recurrent) {
            return true;
        }
        Type[] types = Type.getArgumentTypes(callee.descriptor());
        int flags = 0;
        for (int i = 0; i < position; i++) {
            flags += types[i].getSort() == Type.BOOLEAN ? 1 : 0;
        }
        return flags == 1;
    }

    private Value carryOut(
            int index,
            Fact.Effect effect,
            Callee callee,
            List<Value> operands,
            Optional<Value> mapped) {
        Value called = mapped.orElse(Value.PLAIN);
        Value first = operands.isEmpty() ? Value.PLAIN : operands.get(0);
        BitSet all = (BitSet) called.origins().clone();
        for (int i = 0; i < operands.size(); i++) {
            all.or(objects.read(operands.get(i)).origins());
            boolean given = i > 0 && !BaseStream.class.isAssignableFrom(callee.owner());
            if (given
                    || isStatic(callee, operands)
                    || JdkFacts.isFunction(callee.owner())
                    || callee.name().endsWith("terator")) {
                all.or(operands.get(i).origins());
            }
        }
        if (JdkFacts.isFunction(callee.owner())) {
            if (!operands.stream().allMatch(objects::knowsFunctions)) {
                objects.holdsUnknownFunctions(index);
            }
        } else {
            // Their results were already analyzed.
            objects.withoutFunctions(all);
        }
        Finding finding = changed(callee);
        switch (effect) {
            case VALUE:
                return Value.PLAIN;
            case LOOKS:
                looks(callee);
                return Value.PLAIN;
            case LIST:
                return objects.made(index, Value.PLAIN);
            case LIST_OF_FIRST:
                return objects.made(index, first);
            case READS:
                Value found = objects.read(first).or(called);
                for (int i = 1; i < operands.size(); i++) {
                    found = found.or(Value.of(operands.get(i).origins()));
                }
                return found;
            case SAME:
                BitSet same = new BitSet();
                operands.forEach(operand -> same.or(operand.origins()));
                return Value.of(same);
            case FRESH_LOOKS:
                looks(callee);
                return objects.made(index, Value.of(all));
            case FRESH:
                return objects.made(index, Value.of(all)).or(called);
            case WINDOW:
                return objects.made(index, first.or(objects.read(first)));
            case MAPS:
                return objects.made(index, mapped.isPresent() ? called : Value.of(all));
            case FOUND:
                return Value.shared();
            case CHANGES_HELD:
                objects.change(Value.of(objects.inside(first)), finding);
                return Value.PLAIN;
            case CHANGES_SECOND:
                objects.change(operands.get(1), finding);
                return Value.PLAIN;
            case COPIES_TO_THIRD:
                objects.change(operands.get(2), finding);
                objects.store(operands.get(2), objects.read(first));
                return Value.PLAIN;
            case CHANGES_THROUGH:
                objects.change(Value.of(objects.inside(first)), finding);
                return change(callee, operands).or(called);
            case CHANGES:
            default:
                return change(callee, operands).or(called);
        }
    }

    private Value change(Callee callee, List<Value> operands) {
        if (operands.isEmpty()) {
            return Value.PLAIN;
        }
        Value first = operands.get(0);
        objects.change(first, changed(callee));
        Type[] types = Type.getArgumentTypes(callee.descriptor());
        int firstArgument = operands.size() - types.length;
        for (int i = 1; i < operands.size(); i++) {
            objects.store(first, operands.get(i));
            Type type = types[i - firstArgument];
            if (hasElements(type)
                    || (type.getSort() == Type.OBJECT
                            && calls.load(type.getInternalName())
                                    .filter(OwnCollections::isTraversed)
                                    .isPresent())) {
                // The method may copy the elements.
                objects.store(first, objects.read(operands.get(i)));
            }
        }
        return objects.read(first).or(first);
    }

    private void looks(Callee callee) {
        code.find(Finding.Kind.LOOKS, caller, "reads values of arrays by " + Calls.name(callee));
    }

    /**
     * Analyzes the functions passed to a method of the JDK, because it may call them.
     *
     * @return their results; empty if the functions are unknown
     */
    private Optional<Value> callFunctions(int index, Callee callee, List<Value> operands) {
        Type[] types = Type.getArgumentTypes(callee.descriptor());
        int firstArgument = operands.size() - types.length;
        BitSet given = new BitSet();
        for (int i = 0; i < operands.size(); i++) {
            given.or((i == 0 ? objects.read(operands.get(i)) : operands.get(i)).origins());
            if (firstArgument == 0) {
                given.or(operands.get(i).origins());
                given.or(objects.read(operands.get(i)).origins());
            }
        }
        objects.withoutFunctions(given);
        if (JdkFacts.keepsFunctions(callee.owner())) {
            given.set(Value.SHARED);
        }
        BitSet results = new BitSet();
        boolean known = false;
        for (int i = 0; i < operands.size(); i++) {
            Optional<Class<?>> type = typeOf(i, callee, types, firstArgument);
            if (type.isEmpty() || !JdkFacts.isFunction(type.get())) {
                continue;
            }
            List<MethodObjects.Function> found = objects.functionsIn(operands.get(i), type.get());
            if (i < firstArgument && found.isEmpty() && code.receivers(type.get()).isEmpty()) {
                code.find(Finding.Kind.OPAQUE, caller, "calls a function that is not known");
            }
            known |= !found.isEmpty();
            for (MethodObjects.Function function : found) {
                given.or(results);
                Value one = Value.of((BitSet) given.clone());
                List<Value> handed = ImmutableList.of(one, one, one);
                // Objects that they create are distinct from those of the calling method.
                Value result = calls.apply(instructions + index, function, handed);
                results.or(result.origins());
                if (JdkFacts.changesResults(callee.owner(), callee.name(), type.get())) {
                    objects.change(result, changed(callee));
                }
            }
            callObjects(instructions + index, type.get(), Value.of((BitSet) given.clone()));
        }
        return known ? Optional.of(Value.of(results)) : Optional.empty();
    }

    private Optional<Class<?>> typeOf(int operand, Callee callee, Type[] types, int first) {
        if (operand < first) {
            return Optional.of(callee.owner());
        }
        Type type = types[operand - first];
        return type.getSort() == Type.OBJECT
                ? calls.load(type.getInternalName())
                : Optional.empty();
    }

    /** Analyzes a call of objects of the block's own classes that are functions, too. */
    private void callObjects(int index, Class<?> function, Value given) {
        for (Class<?> receiver : code.receivers(function)) {
            for (Method method : function.getMethods()) {
                if (Modifier.isAbstract(method.getModifiers())) {
                    List<Value> operands = new ArrayList<>();
                    operands.add(given.or(Value.shared()));
                    for (Class<?> type : method.getParameterTypes()) {
                        operands.add(
                                type.isPrimitive()
                                        ? Value.plain(Type.getType(type).getSize())
                                        : given);
                    }
                    Callee callee =
                            new Callee(
                                    function, method.getName(), Type.getMethodDescriptor(method));
                    Value unused = calls.inherited(index, receiver, callee, operands, Value.PLAIN);
                }
            }
        }
    }
}
