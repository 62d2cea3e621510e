package org.djlplan.memplan.djl.purity;

import com.google.common.collect.ImmutableList;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.BaseStream;
import org.djlplan.memplan.djl.purity.CodeReader.Lambda;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * The objects that one method handles, and the calls that it makes: what of it is stated, what is
 * read from the called method's code, and what comes back.
 */
final class Calls {

    /** A method as a call names it. */
    record Callee(Class<?> owner, String name, String descriptor) {}

    private record Function(Lambda lambda, List<Value> captured) {}

    private final CodeReader code;
    private final Class<?> caller;
    private final Summary summary;
    private final Map<Integer, BitSet> held = new HashMap<>();
    private final Map<Integer, Function> functions = new HashMap<>();
    private final int instructions;
    private boolean grown;

    /**
     * @param instructions how many the method has
     */
    Calls(CodeReader code, Class<?> caller, Summary summary, int instructions) {
        this.instructions = instructions;
        this.code = code;
        this.caller = caller;
        this.summary = summary;
    }

    void startOver() {
        grown = false;
    }

    /** Returns whether more is known of what objects hold than when the method was begun. */
    boolean grown() {
        return grown;
    }

    Optional<Class<?>> load(String internalName) {
        return code.load(internalName.replace('/', '.'), caller.getClassLoader());
    }

    /** Returns what an instruction made, which holds some things. */
    Value made(int index, Value content) {
        int site = Value.site(index);
        hold(site, content.origins());
        return Value.from(site);
    }

    private void hold(int site, BitSet origins) {
        BitSet before = held.computeIfAbsent(site, key -> new BitSet());
        int size = before.cardinality();
        before.or(origins);
        grown |= before.cardinality() != size;
    }

    /** Adds what an object holds, and what that holds, as seen by callers. */
    void addHeld(int site, BitSet result) {
        BitSet inside = closure(read(Value.from(site)).origins());
        for (int origin = inside.nextSetBit(0);
                origin >= 0;
                origin = inside.nextSetBit(origin + 1)) {
            if (!Value.isSite(origin)) {
                result.set(origin);
            }
        }
    }

    /** Returns what is found inside of a value. */
    Value read(Value value) {
        BitSet found = new BitSet();
        BitSet origins = value.origins();
        for (int origin = origins.nextSetBit(0);
                origin >= 0;
                origin = origins.nextSetBit(origin + 1)) {
            if (Value.isSite(origin)) {
                found.or(held.getOrDefault(origin, new BitSet()));
            } else if (Value.isArgument(origin)) {
                found.set(Value.inside(origin));
            } else {
                found.set(origin);
            }
        }
        return Value.of(found);
    }

    /** Returns values and all that they hold. */
    private BitSet closure(BitSet origins) {
        BitSet all = (BitSet) origins.clone();
        int size;
        do {
            size = all.cardinality();
            all.or(read(Value.of((BitSet) all.clone())).origins());
        } while (all.cardinality() != size);
        return all;
    }

    private BitSet inside(Value value) {
        return closure(read(value).origins());
    }

    /** Takes note that an object is changed. */
    void change(Value value, Finding finding) {
        BitSet origins = value.origins();
        for (int origin = origins.nextSetBit(0);
                origin >= 0;
                origin = origins.nextSetBit(origin + 1)) {
            if (!Value.isSite(origin)) {
                summary.changes.putIfAbsent(origin, finding);
            }
        }
    }

    /** Takes note that an object is put into another. */
    void store(Value container, Value value) {
        if (value.origins().isEmpty()) {
            return;
        }
        escape(value);
        BitSet outer = new BitSet();
        BitSet all = closure(value.origins());
        for (int origin = all.nextSetBit(0); origin >= 0; origin = all.nextSetBit(origin + 1)) {
            if (!Value.isSite(origin)) {
                outer.set(origin);
            }
        }
        BitSet origins = container.origins();
        for (int origin = origins.nextSetBit(0);
                origin >= 0;
                origin = origins.nextSetBit(origin + 1)) {
            if (Value.isSite(origin)) {
                hold(origin, value.origins());
            } else if (Value.isArgument(origin)) {
                summary.store(origin, outer);
            }
        }
    }

    /** Takes note that the functions in a value may be called from elsewhere. */
    void escape(Value value) {
        BitSet all = closure(value.origins());
        for (int origin = all.nextSetBit(0); origin >= 0; origin = all.nextSetBit(origin + 1)) {
            Function function = functions.get(origin);
            if (function != null) {
                code.escaped(function.lambda());
            }
        }
    }

    /** Takes note of a cast or a question for a class, which a stand-in may not pass. */
    void look(String internalName) {
        Optional<Class<?>> type = load(internalName);
        if (type.isPresent() && !type.get().isInterface() && isEngines(type.get())) {
            code.find(
                    Finding.Kind.OPAQUE,
                    caller,
                    "asks for the engine's own class " + type.get().getSimpleName());
        }
    }

    private static boolean isEngines(Class<?> type) {
        return CodeReader.isArrayClass(type)
                || type.getName().equals("ai.djl.util.NativeResource")
                || type.getName().startsWith("ai.djl.pytorch.");
    }

    /** What changes objects that were there before is an effect of the pass. */
    void changesShared(Summary of) {
        of.changes.forEach(
                (origin, finding) -> {
                    if (origin == Value.SHARED) {
                        code.find(finding);
                    }
                });
    }

    /** Returns what an {@code invokedynamic} makes. */
    Value dynamic(int index, InvokeDynamicInsnNode site, List<Value> operands) {
        if (ClassFile.isLambda(site)) {
            int origin = Value.site(index);
            functions.put(origin, new Function(CodeReader.lambda(caller, site), operands));
            BitSet captured = new BitSet();
            operands.forEach(operand -> captured.or(operand.origins()));
            return made(index, Value.of(captured));
        }
        String bootstrap = site.bsm.getOwner();
        if (!bootstrap.equals("java/lang/invoke/StringConcatFactory")
                && !bootstrap.equals("java/lang/runtime/ObjectMethods")
                && !bootstrap.equals("java/lang/runtime/SwitchBootstraps")) {
            code.find(Finding.Kind.OPAQUE, caller, "makes calls by " + bootstrap);
        }
        return Value.plain(Type.getReturnType(site.desc).getSize());
    }

    Value call(
            int index,
            int opcode,
            String owner,
            String name,
            String descriptor,
            List<Value> operands) {
        Optional<Class<?>> type = load(owner);
        if (type.isEmpty()) {
            code.find(Finding.Kind.OPAQUE, caller, "calls " + owner + ", which cannot be found");
            return Value.shared();
        }
        return call(index, opcode, new Callee(type.get(), name, descriptor), operands);
    }

    /** Follows a call and returns its result. */
    Value call(int index, int opcode, Callee callee, List<Value> operands) {
        boolean isVirtual = opcode == Opcodes.INVOKEVIRTUAL || opcode == Opcodes.INVOKEINTERFACE;
        Value result = resultOf(callee, Value.PLAIN);
        if (CodeReader.isStated(callee.owner())) {
            result = stated(index, callee, operands, isVirtual);
            // Objects have these methods all; what they do in the block's own is read apart.
            if (isVirtual && callee.owner() != Object.class) {
                for (Class<?> receiver : code.receivers(callee.owner())) {
                    result = result.or(inherited(index, receiver, callee, operands, result));
                }
            }
            return resultOf(callee, result);
        }
        if (!isVirtual) {
            return resultOf(callee, inherited(index, callee.owner(), callee, operands, result));
        }
        List<Class<?>> receivers = code.receivers(callee.owner());
        for (Class<?> receiver : receivers) {
            result = result.or(inherited(index, receiver, callee, operands, result));
        }
        List<Function> called =
                callee.owner().isInterface()
                        ? functionsIn(operands.get(0), callee.owner())
                        : ImmutableList.of();
        if (!called.isEmpty() && isAbstract(callee)) {
            for (Function function : called) {
                result = result.or(apply(index, function, operands.subList(1, operands.size())));
            }
        } else if (receivers.isEmpty()) {
            code.find(
                    Finding.Kind.OPAQUE,
                    caller,
                    "calls " + name(callee) + " of objects that are not known");
            return resultOf(callee, Value.shared());
        }
        return resultOf(callee, result);
    }

    private static String name(Callee callee) {
        return callee.owner().getSimpleName() + '.' + callee.name();
    }

    private static Value resultOf(Callee callee, Value reference) {
        Type type = Type.getReturnType(callee.descriptor());
        return CodeReader.isReference(type) ? reference : Value.plain(type.getSize());
    }

    private static boolean isAbstract(Callee callee) {
        if (!callee.owner().isInterface()) {
            return false;
        }
        for (Method method : callee.owner().getMethods()) {
            if (method.getName().equals(callee.name())
                    && Modifier.isAbstract(method.getModifiers())
                    && Type.getMethodDescriptor(method).equals(callee.descriptor())) {
                return true;
            }
        }
        return false;
    }

    /**
     * Follows a call of the method that a class has or inherits.
     *
     * @param otherwise the result if what it inherits is stated, and so counted already
     */
    private Value inherited(
            int index, Class<?> receiver, Callee callee, List<Value> operands, Value otherwise) {
        List<Class<?>> interfaces = new ArrayList<>();
        for (Class<?> type = receiver; type != null; type = type.getSuperclass()) {
            if (CodeReader.isStated(type)) {
                return type == Object.class || CodeReader.isStated(callee.owner())
                        ? byInterfaces(index, interfaces, callee, operands, otherwise)
                        : stated(
                                index,
                                new Callee(type, callee.name(), callee.descriptor()),
                                operands,
                                false);
            }
            Optional<ClassFile> file = code.file(type);
            if (file.isEmpty()) {
                code.find(Finding.Kind.OPAQUE, type, "has code that cannot be found");
                return Value.shared();
            }
            Optional<MethodNode> method = file.get().method(callee.name(), callee.descriptor());
            if (method.isPresent() && (method.get().access & Opcodes.ACC_ABSTRACT) == 0) {
                return follow(index, type, method.get(), operands);
            }
            interfaces.addAll(ImmutableList.copyOf(type.getInterfaces()));
            if (type.isInterface()) {
                return byInterfaces(index, interfaces, callee, operands, otherwise);
            }
        }
        return byInterfaces(index, interfaces, callee, operands, otherwise);
    }

    private Value byInterfaces(
            int index,
            List<Class<?>> interfaces,
            Callee callee,
            List<Value> operands,
            Value otherwise) {
        List<Class<?>> all = new ArrayList<>(interfaces);
        for (int i = 0; i < all.size(); i++) {
            Class<?> type = all.get(i);
            all.addAll(ImmutableList.copyOf(type.getInterfaces()));
            if (CodeReader.isStated(type)) {
                continue;
            }
            Optional<MethodNode> method =
                    code.file(type).flatMap(f -> f.method(callee.name(), callee.descriptor()));
            if (method.isPresent() && ClassFile.hasCode(method.get())) {
                return follow(index, type, method.get(), operands);
            }
        }
        if (!CodeReader.isStated(callee.owner()) && callee.name().equals("<init>")) {
            return otherwise;
        }
        if (!CodeReader.isStated(callee.owner()) && !isInherited(callee)) {
            code.find(
                    Finding.Kind.OPAQUE, caller, "calls " + name(callee) + ", which is not found");
        }
        return otherwise;
    }

    /** Whether a class has the method from {@link Object} or from an interface of the JDK. */
    private static boolean isInherited(Callee callee) {
        for (Method method : callee.owner().getMethods()) {
            if (method.getName().equals(callee.name())) {
                return true;
            }
        }
        for (Method method : Object.class.getDeclaredMethods()) {
            if (method.getName().equals(callee.name())) {
                return true;
            }
        }
        return false;
    }

    private Value follow(int index, Class<?> owner, MethodNode method, List<Value> operands) {
        operands.forEach(this::escape);
        Summary called = code.summary(owner, method, operands);
        called.changes.forEach((origin, finding) -> change(map(origin, operands), finding));
        called.stores.forEach(
                (origin, stored) -> store(map(origin, operands), map(stored, operands)));
        Value result = map(called.returns, operands);
        return called.returnsNew
                ? result.or(made(index, map(called.returnsHolding, operands)))
                : result;
    }

    private Value map(int origin, List<Value> operands) {
        if (!Value.isArgument(origin)) {
            return Value.from(origin);
        }
        Value operand = operands.get(Value.argumentNumber(origin));
        return switch (Value.level(origin)) {
            case 0 -> operand;
            case 1 -> read(operand);
            default -> Value.of(inside(read(operand)));
        };
    }

    private Value map(BitSet origins, List<Value> operands) {
        BitSet mapped = new BitSet();
        for (int origin = origins.nextSetBit(0);
                origin >= 0;
                origin = origins.nextSetBit(origin + 1)) {
            mapped.or(map(origin, operands).origins());
        }
        return Value.of(mapped);
    }

    /** Follows a call of a method of which it is stated what it does. */
    private Value stated(int index, Callee callee, List<Value> operands, boolean isVirtual) {
        Class<?> owner = callee.owner();
        if (isVirtual && JdkFacts.isFunction(owner) && isAbstract(callee)) {
            Value result = Value.PLAIN;
            for (Function function : functionsIn(operands.get(0), owner)) {
                result = result.or(apply(index, function, operands.subList(1, operands.size())));
            }
            if (functionsIn(operands.get(0), owner).isEmpty() && code.receivers(owner).isEmpty()) {
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
                    "calls " + name(callee) + ", of which nothing is known");
            return Value.shared();
        }
        fact.get()
                .finding()
                .ifPresent(finding -> code.find(finding.kind(), caller, finding.what()));
        Optional<Value> called = callFunctions(index, callee, operands);
        return carryOut(index, fact.get().effect(), callee, operands, called);
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

    /** Which flag says so: the only one, or of recurrent networks the second. */
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
            all.or(read(operands.get(i)).origins());
            boolean given = i > 0 && !BaseStream.class.isAssignableFrom(callee.owner());
            if (given || isStatic(callee, operands) || callee.name().endsWith("terator")) {
                all.or(operands.get(i).origins());
            }
        }
        if (!JdkFacts.isFunction(callee.owner())) {
            // What they return has been seen already.
            functions.keySet().forEach(all::clear);
        }
        Finding finding =
                new Finding(
                        Finding.Kind.EFFECT,
                        caller.getName(),
                        "changes by " + name(callee) + " what it did not make");
        switch (effect) {
            case VALUE:
                return Value.PLAIN;
            case LOOKS:
                looks(callee);
                return Value.PLAIN;
            case LIST:
                return made(index, Value.PLAIN);
            case LIST_OF_FIRST:
                return made(index, first);
            case READS:
                Value found = read(first).or(called);
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
                return made(index, Value.of(all));
            case FRESH:
                return made(index, Value.of(all)).or(called);
            case MAPS:
                return made(index, mapped.isPresent() ? called : Value.of(all));
            case FOUND:
                return Value.shared();
            case CHANGES_HELD:
                change(Value.of(inside(first)), finding);
                return Value.PLAIN;
            case CHANGES_SECOND:
                change(operands.get(1), finding);
                return Value.PLAIN;
            case COPIES_TO_THIRD:
                change(operands.get(2), finding);
                store(operands.get(2), read(first));
                return Value.PLAIN;
            case CHANGES:
            default:
                change(first, finding);
                for (int i = 1; i < operands.size(); i++) {
                    store(first, operands.get(i));
                }
                return read(first).or(first).or(called);
        }
    }

    private void looks(Callee callee) {
        code.find(Finding.Kind.LOOKS, caller, "reads values of arrays by " + name(callee));
    }

    /**
     * Follows the functions that a method of the JDK is handed, as it may call them.
     *
     * @return what they return; empty if it is not known which they are
     */
    private Optional<Value> callFunctions(int index, Callee callee, List<Value> operands) {
        Type[] types = Type.getArgumentTypes(callee.descriptor());
        int firstArgument = operands.size() - types.length;
        BitSet given = new BitSet();
        for (int i = 0; i < operands.size(); i++) {
            given.or((i == 0 ? read(operands.get(i)) : operands.get(i)).origins());
            if (firstArgument == 0) {
                given.or(operands.get(i).origins());
                given.or(read(operands.get(i)).origins());
            }
        }
        functions.keySet().forEach(given::clear);
        if (JdkFacts.keepsFunctions(callee.owner())) {
            given.set(Value.SHARED);
        }
        BitSet results = new BitSet();
        boolean known = false;
        for (int i = 0; i < types.length; i++) {
            Optional<Class<?>> type =
                    types[i].getSort() == Type.OBJECT
                            ? load(types[i].getInternalName())
                            : Optional.empty();
            if (type.isEmpty() || !JdkFacts.isFunction(type.get())) {
                continue;
            }
            List<Function> found = functionsIn(operands.get(firstArgument + i), type.get());
            known = !found.isEmpty();
            for (Function function : found) {
                given.or(results);
                Value one = Value.of((BitSet) given.clone());
                List<Value> handed = ImmutableList.of(one, one, one);
                // What they make is not what the method makes that calls them.
                results.or(apply(instructions + index, function, handed).origins());
            }
            callObjects(instructions + index, type.get(), Value.of((BitSet) given.clone()));
        }
        return known ? Optional.of(Value.of(results)) : Optional.empty();
    }

    /** Follows a call of objects of the block's own classes that are functions, too. */
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
                    Value unused = inherited(index, receiver, callee, operands, Value.PLAIN);
                }
            }
        }
    }

    /** Returns the functions that a value may be, or be made of. */
    private List<Function> functionsIn(Value value, Class<?> type) {
        List<Function> found = new ArrayList<>();
        boolean known = !value.origins().isEmpty();
        BitSet origins = value.origins();
        for (int origin = origins.nextSetBit(0);
                origin >= 0;
                origin = origins.nextSetBit(origin + 1)) {
            known &= Value.isSite(origin);
        }
        BitSet all = closure(origins);
        for (int origin = all.nextSetBit(0); origin >= 0; origin = all.nextSetBit(origin + 1)) {
            if (functions.containsKey(origin)) {
                found.add(functions.get(origin));
            }
        }
        if (!known || found.isEmpty()) {
            for (Lambda lambda : code.functions(type, value.field())) {
                List<Value> captured = new ArrayList<>();
                for (Type each : lambda.captured()) {
                    String field = "arg$" + (captured.size() + 1);
                    captured.add(
                            CodeReader.isReference(each)
                                    ? Value.shared()
                                            .readFrom(
                                                    CodeReader.field(
                                                            lambda.host().getName(), field))
                                    : Value.plain(each.getSize()));
                }
                found.add(new Function(lambda, captured));
            }
        }
        return found;
    }

    /** Follows the call of a function; arguments that are not given are as the first one. */
    private Value apply(int index, Function function, List<Value> arguments) {
        Handle body = function.lambda().body();
        Type[] called = function.lambda().called().getArgumentTypes();
        List<Value> operands = new ArrayList<>(function.captured());
        for (int i = 0; i < called.length; i++) {
            operands.add(
                    CodeReader.isReference(called[i])
                            ? i < arguments.size() ? arguments.get(i) : Value.shared()
                            : i < arguments.size()
                                            && arguments.get(i).origins().isEmpty()
                                            && arguments.get(i).size() == called[i].getSize()
                                    ? arguments.get(i)
                                    : Value.plain(called[i].getSize()));
        }
        Optional<Class<?>> owner =
                code.load(
                        body.getOwner().replace('/', '.'),
                        function.lambda().host().getClassLoader());
        if (owner.isEmpty()) {
            code.find(Finding.Kind.OPAQUE, caller, "calls " + body + ", which cannot be found");
            return Value.shared();
        }
        Callee callee = new Callee(owner.get(), body.getName(), body.getDesc());
        switch (body.getTag()) {
            case Opcodes.H_INVOKESTATIC:
                return call(index, Opcodes.INVOKESTATIC, callee, operands);
            case Opcodes.H_INVOKESPECIAL:
                return call(index, Opcodes.INVOKESPECIAL, callee, operands);
            case Opcodes.H_NEWINVOKESPECIAL:
                code.made(owner.get());
                Value made = made(index, Value.PLAIN);
                operands.add(0, made);
                Value unused = call(index, Opcodes.INVOKESPECIAL, callee, operands);
                return made;
            default:
                return call(index, Opcodes.INVOKEVIRTUAL, callee, operands);
        }
    }
}
