package org.djlplan.memplan.internal.djl.purity;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import org.djlplan.thirdparty.asm.Handle;
import org.djlplan.thirdparty.asm.Opcodes;
import org.djlplan.thirdparty.asm.Type;
import org.djlplan.thirdparty.asm.tree.InvokeDynamicInsnNode;
import org.djlplan.thirdparty.asm.tree.MethodNode;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * The calls of one method: each call reaches either the methods of all possible classes of the
 * object, whose code is analyzed, or methods with stated effects ({@link StatedCalls}).
 */
final class Calls {

    /** A method as named by a call. */
    record Callee(Class<?> owner, String name, String descriptor) {}

    private final CodeReader code;
    private final Class<?> caller;
    private final MethodObjects objects;
    private final StatedCalls stated;
    private final OwnCollections collections;
    private final int instructions;

    /**
     * @param instructions number of instructions of the method
     */
    Calls(CodeReader code, Class<?> caller, MethodObjects objects, int instructions) {
        this.code = code;
        this.caller = caller;
        this.objects = objects;
        this.instructions = instructions;
        collections = new OwnCollections(code, this);
        stated = new StatedCalls(code, caller, this, objects, instructions);
    }

    Optional<Class<?>> load(String internalName) {
        return code.load(internalName.replace('/', '.'), caller.getClassLoader());
    }

    /** Returns whether no method of a class can fail because of an array. */
    boolean neverUsesArrays(String internalName) {
        return load(internalName).filter(JdkFacts::neverUsesArrays).isPresent();
    }

    /** Records a cast or type test, which a stand-in may fail. */
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

    /** Records changes of objects that existed before, because these are effects of the pass. */
    void changesShared(Summary of) {
        of.changes.forEach(
                (origin, finding) -> {
                    if (origin == Value.SHARED) {
                        code.find(finding);
                    }
                });
    }

    /** Returns the object that an {@code invokedynamic} creates. */
    Value dynamic(int index, InvokeDynamicInsnNode site, List<Value> operands) {
        if (ClassFile.isLambda(site)) {
            return objects.function(index, CodeReader.lambda(caller, site), operands);
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

    /** Analyzes a call and returns its result. */
    Value call(int index, int opcode, Callee callee, List<Value> operands) {
        boolean isVirtual = opcode == Opcodes.INVOKEVIRTUAL || opcode == Opcodes.INVOKEINTERFACE;
        Value result = resultOf(callee, Value.PLAIN);
        if (CodeReader.isStated(callee.owner())) {
            result = stated.call(index, callee, operands, isVirtual);
            result = result.or(collections.readArguments(aside(index), callee, operands));
            // All objects have these methods; overrides in the block's own classes are analyzed
            // separately.
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
        List<MethodObjects.Function> called =
                callee.owner().isInterface()
                        ? objects.functionsIn(operands.get(0), callee.owner())
                        : ImmutableList.of();
        if (!called.isEmpty() && isAbstract(callee)) {
            for (MethodObjects.Function function : called) {
                result = result.or(apply(index, function, operands.subList(1, operands.size())));
            }
        } else if (!called.isEmpty()) {
            result = result.or(inherited(index, callee.owner(), callee, operands, result));
        } else if (receivers.isEmpty()) {
            code.find(
                    Finding.Kind.OPAQUE,
                    caller,
                    "calls " + name(callee) + " of objects that are not known");
            return resultOf(callee, Value.shared());
        }
        return resultOf(callee, result);
    }

    static String name(Callee callee) {
        return callee.owner().getSimpleName() + '.' + callee.name();
    }

    private static Value resultOf(Callee callee, Value reference) {
        Type type = Type.getReturnType(callee.descriptor());
        return CodeReader.isReference(type) ? reference : Value.plain(type.getSize());
    }

    static boolean isAbstract(Callee callee) {
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
     * Analyzes a call of the method that a class declares or inherits.
     *
     * @param otherwise the result if the inherited method has stated effects, which are already
     *     counted
     */
    Value inherited(
            int index, Class<?> receiver, Callee callee, List<Value> operands, Value otherwise) {
        List<Class<?>> interfaces = new ArrayList<>();
        for (Class<?> type = receiver; type != null; type = type.getSuperclass()) {
            if (CodeReader.isStated(type)) {
                Value result =
                        type == Object.class || CodeReader.isStated(callee.owner())
                                ? byInterfaces(index, interfaces, callee, operands, otherwise)
                                : stated.call(
                                        index,
                                        new Callee(type, callee.name(), callee.descriptor()),
                                        operands,
                                        false);
                return type != receiver && operands.size() > 0
                        ? result.or(collections.read(aside(index), receiver, operands.get(0)))
                        : result;
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
        Optional<Value> result = Optional.empty();
        for (Class<?> type : Inheritance.mostSpecific(interfaces, type -> declares(type, callee))) {
            if (CodeReader.isStated(type)) {
                // If the callee is stated, its effect is already counted.
                if (!CodeReader.isStated(callee.owner())) {
                    Callee inherited = new Callee(type, callee.name(), callee.descriptor());
                    result = or(result, stated.call(index, inherited, operands, true));
                }
                continue;
            }
            Optional<MethodNode> method =
                    code.file(type).flatMap(f -> f.method(callee.name(), callee.descriptor()));
            if (method.isPresent() && ClassFile.hasCode(method.get())) {
                result = or(result, follow(index, type, method.get(), operands));
            }
        }
        if (result.isPresent()) {
            return result.get();
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

    private boolean declares(Class<?> type, Callee callee) {
        if (!CodeReader.isStated(type)) {
            return code.file(type)
                    .flatMap(file -> file.method(callee.name(), callee.descriptor()))
                    .isPresent();
        }
        for (Method method : type.getDeclaredMethods()) {
            if (method.getName().equals(callee.name())
                    && Type.getMethodDescriptor(method).equals(callee.descriptor())) {
                return true;
            }
        }
        return false;
    }

    /** Returns the number of objects that an instruction makes in addition to its result. */
    private int aside(int index) {
        return index < instructions ? instructions + index : index;
    }

    private static Optional<Value> or(Optional<Value> result, Value other) {
        return Optional.of(result.map(known -> known.or(other)).orElse(other));
    }

    /**
     * Returns whether the class inherits the method from {@link Object} or from an interface of the
     * JDK.
     */
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
        operands.forEach(objects::escape);
        Summary called = code.summary(owner, method, operands);
        called.changes.forEach((origin, finding) -> objects.change(map(origin, operands), finding));
        called.stores.forEach(
                (origin, stored) -> objects.store(map(origin, operands), map(stored, operands)));
        Value result = map(called.returns, operands);
        return called.returnsNew
                ? result.or(objects.made(index, map(called.returnsHolding, operands)))
                : result;
    }

    private Value map(int origin, List<Value> operands) {
        if (!Value.isArgument(origin)) {
            return Value.from(origin);
        }
        Value operand = operands.get(Value.argumentNumber(origin));
        return switch (Value.level(origin)) {
            case 0 -> operand;
            case 1 -> objects.read(operand);
            default -> Value.of(objects.inside(objects.read(operand)));
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

    /** Analyzes the call of a function; missing arguments are assumed to equal the first one. */
    Value apply(int index, MethodObjects.Function function, List<Value> arguments) {
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
                Value made = objects.made(index, Value.PLAIN);
                operands.add(0, made);
                Value unused = call(index, Opcodes.INVOKESPECIAL, callee, operands);
                return made;
            default:
                return call(index, Opcodes.INVOKEVIRTUAL, callee, operands);
        }
    }
}
