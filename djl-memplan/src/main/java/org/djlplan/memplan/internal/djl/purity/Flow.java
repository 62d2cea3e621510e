package org.djlplan.memplan.internal.djl.purity;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import java.util.OptionalInt;
import org.djlplan.thirdparty.asm.Opcodes;
import org.djlplan.thirdparty.asm.Type;
import org.djlplan.thirdparty.asm.tree.AbstractInsnNode;
import org.djlplan.thirdparty.asm.tree.FieldInsnNode;
import org.djlplan.thirdparty.asm.tree.IntInsnNode;
import org.djlplan.thirdparty.asm.tree.InvokeDynamicInsnNode;
import org.djlplan.thirdparty.asm.tree.JumpInsnNode;
import org.djlplan.thirdparty.asm.tree.LabelNode;
import org.djlplan.thirdparty.asm.tree.LdcInsnNode;
import org.djlplan.thirdparty.asm.tree.LookupSwitchInsnNode;
import org.djlplan.thirdparty.asm.tree.MethodInsnNode;
import org.djlplan.thirdparty.asm.tree.MethodNode;
import org.djlplan.thirdparty.asm.tree.TableSwitchInsnNode;
import org.djlplan.thirdparty.asm.tree.TryCatchBlockNode;
import org.djlplan.thirdparty.asm.tree.TypeInsnNode;
import org.djlplan.thirdparty.asm.tree.analysis.AnalyzerException;
import org.djlplan.thirdparty.asm.tree.analysis.Frame;
import org.djlplan.thirdparty.asm.tree.analysis.Interpreter;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * Runs one method on {@link Value}s instead of concrete values: along all branches, except those
 * that a constant excludes, until nothing changes any more.
 */
final class Flow extends Interpreter<Value> {

    private final CodeReader code;
    private final Class<?> owner;
    private MethodObjects objects;
    private Calls calls;
    private MethodNode method = new MethodNode(Opcodes.ASM9);
    private Summary summary = new Summary();
    private List<Frame<Value>> frames = new ArrayList<>();
    private final Deque<Integer> queue = new ArrayDeque<>();

    Flow(CodeReader code, Class<?> owner) {
        super(Opcodes.ASM9);
        this.code = code;
        this.owner = owner;
        objects = new MethodObjects(code, summary);
        calls = new Calls(code, owner, objects, 2);
    }

    /** Analyzes a method as if called from outside, on an object that existed before. */
    void callFromOutside(String name, String descriptor) {
        List<Value> operands = new ArrayList<>();
        operands.add(Value.shared());
        for (Type type : Type.getArgumentTypes(descriptor)) {
            if (type.getSort() == Type.BOOLEAN) {
                operands.add(Value.number(0));
            } else if (type.getInternalName().equals("ai/djl/ndarray/NDList")) {
                // Each pass gets its own list, with arrays of the caller.
                operands.add(objects.made(0, Value.shared()));
            } else {
                operands.add(
                        CodeReader.isReference(type)
                                ? Value.shared()
                                : Value.plain(type.getSize()));
            }
        }
        Value unused =
                calls.call(
                        1,
                        Opcodes.INVOKEVIRTUAL,
                        new Calls.Callee(owner, name, descriptor),
                        operands);
        calls.changesShared(summary);
    }

    /** Analyzes a method and adds its effects to its summary. */
    void read(MethodNode read, List<Value> operands, Summary result) {
        if ((read.access & Opcodes.ACC_NATIVE) != 0) {
            code.find(Finding.Kind.OPAQUE, owner, "calls native code: " + read.name);
            return;
        }
        if ((read.access & Opcodes.ACC_SYNCHRONIZED) != 0) {
            code.find(Finding.Kind.OPAQUE, owner, "locks something");
        }
        method = read;
        summary = result;
        objects = new MethodObjects(code, result);
        calls = new Calls(code, owner, objects, read.instructions.size());
        try {
            do {
                objects.startOver();
                run(operands);
            } while (objects.grown());
            if (!owner.getName().startsWith("ai.djl.")
                    && new Handlers(method, frames).hideErrors(calls::neverUsesArrays)) {
                code.find(
                        Finding.Kind.OPAQUE,
                        owner,
                        "may catch the engine's error for a closed array");
            }
        } catch (AnalyzerException | RuntimeException e) {
            code.find(Finding.Kind.OPAQUE, owner, "cannot be read: " + e);
        }
    }

    private void run(List<Value> operands) throws AnalyzerException {
        frames = new ArrayList<>();
        for (int i = 0; i < method.instructions.size(); i++) {
            frames.add(null);
        }
        Frame<Value> first = new Frame<>(method.maxLocals, method.maxStack);
        int local = 0;
        for (int i = 0; i < operands.size(); i++) {
            Value operand = operands.get(i);
            Value known = isPlainArgument(i) ? operand : Value.from(Value.argument(i));
            first.setLocal(local, operand.field().map(known::readFrom).orElse(known));
            local += operand.size();
            if (operand.size() == 2) {
                first.setLocal(local - 1, Value.PLAIN);
            }
        }
        for (; local < method.maxLocals; local++) {
            first.setLocal(local, Value.PLAIN);
        }
        merge(0, first);
        while (!queue.isEmpty()) {
            step(queue.poll());
        }
    }

    private boolean isPlainArgument(int number) {
        boolean isStatic = (method.access & Opcodes.ACC_STATIC) != 0;
        int position = isStatic ? number : number - 1;
        return position >= 0
                && !CodeReader.isReference(Type.getArgumentTypes(method.desc)[position]);
    }

    private void step(int index) throws AnalyzerException {
        AbstractInsnNode instruction = method.instructions.get(index);
        Frame<Value> before = frames.get(index);
        if (instruction.getOpcode() < 0) {
            merge(index + 1, before);
            return;
        }
        for (TryCatchBlockNode block : method.tryCatchBlocks) {
            if (position(block.start) <= index && index < position(block.end)) {
                Frame<Value> caught = new Frame<>(before);
                caught.clearStack();
                // Distinguishes the caught exception from one that the handler creates.
                caught.push(
                        objects.made(position(block.handler), Value.shared()).or(Value.shared()));
                merge(position(block.handler), caught);
            }
        }
        Frame<Value> after = new Frame<>(before);
        after.execute(instruction, this);
        if (instruction instanceof JumpInsnNode jump) {
            OptionalInt tested =
                    before.getStackSize() == 0
                            ? OptionalInt.empty()
                            : before.getStack(before.getStackSize() - 1).constant();
            boolean known =
                    tested.isPresent()
                            && (jump.getOpcode() == Opcodes.IFEQ
                                    || jump.getOpcode() == Opcodes.IFNE);
            boolean taken = known && (jump.getOpcode() == Opcodes.IFEQ) == (tested.getAsInt() == 0);
            if (!known || taken) {
                merge(position(jump.label), after);
            }
            if (jump.getOpcode() != Opcodes.GOTO && !(known && taken)) {
                merge(index + 1, after);
            }
        } else if (instruction instanceof LookupSwitchInsnNode choice) {
            mergeAll(choice.labels, choice.dflt, after);
        } else if (instruction instanceof TableSwitchInsnNode choice) {
            mergeAll(choice.labels, choice.dflt, after);
        } else if (!endsMethod(instruction.getOpcode())) {
            merge(index + 1, after);
        }
    }

    private static boolean endsMethod(int opcode) {
        return opcode == Opcodes.ATHROW || (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN);
    }

    private void mergeAll(List<LabelNode> labels, LabelNode otherwise, Frame<Value> frame)
            throws AnalyzerException {
        for (LabelNode label : labels) {
            merge(position(label), frame);
        }
        merge(position(otherwise), frame);
    }

    private void merge(int index, Frame<Value> frame) throws AnalyzerException {
        Frame<Value> known = frames.get(index);
        boolean changed = true;
        if (known == null) {
            frames.set(index, new Frame<>(frame));
        } else {
            changed = known.merge(frame, this);
        }
        if (changed) {
            queue.add(index);
        }
    }

    private int position(AbstractInsnNode instruction) {
        return method.instructions.indexOf(instruction);
    }

    @Override
    public Value newValue(Type type) {
        return type == null ? Value.PLAIN : Value.plain(type.getSize());
    }

    @Override
    public Value newOperation(AbstractInsnNode instruction) {
        int opcode = instruction.getOpcode();
        if (opcode >= Opcodes.ICONST_M1 && opcode <= Opcodes.ICONST_5) {
            return Value.number(opcode - Opcodes.ICONST_0);
        }
        switch (opcode) {
            case Opcodes.BIPUSH, Opcodes.SIPUSH:
                return Value.number(((IntInsnNode) instruction).operand);
            case Opcodes.LCONST_0, Opcodes.LCONST_1, Opcodes.DCONST_0, Opcodes.DCONST_1:
                return Value.WIDE;
            case Opcodes.LDC:
                Object constant = ((LdcInsnNode) instruction).cst;
                return Value.plain(constant instanceof Long || constant instanceof Double ? 2 : 1);
            case Opcodes.GETSTATIC:
                FieldInsnNode field = (FieldInsnNode) instruction;
                calls.load(field.owner).ifPresent(code::reads);
                return found(field.desc, Value.shared());
            case Opcodes.NEW:
                calls.load(((TypeInsnNode) instruction).desc).ifPresent(code::made);
                return objects.made(position(instruction), Value.PLAIN);
            default:
                return Value.PLAIN;
        }
    }

    private static String name(FieldInsnNode field) {
        return CodeReader.field(field.owner.replace('/', '.'), field.name);
    }

    private static Value found(String descriptor, Value reference) {
        Type type = Type.getType(descriptor);
        return CodeReader.isReference(type) ? reference : Value.plain(type.getSize());
    }

    @Override
    public Value copyOperation(AbstractInsnNode instruction, Value value) {
        return value;
    }

    @Override
    public Value unaryOperation(AbstractInsnNode instruction, Value value) {
        switch (instruction.getOpcode()) {
            case Opcodes.GETFIELD:
                FieldInsnNode field = (FieldInsnNode) instruction;
                return found(field.desc, objects.read(value).readFrom(name(field)));
            case Opcodes.PUTSTATIC:
                code.find(
                        Finding.Kind.EFFECT,
                        owner,
                        "writes its static field " + ((FieldInsnNode) instruction).name);
                objects.escape(value);
                return Value.PLAIN;
            case Opcodes.NEWARRAY, Opcodes.ANEWARRAY:
                return objects.made(position(instruction), Value.PLAIN);
            case Opcodes.CHECKCAST:
                calls.look(((TypeInsnNode) instruction).desc);
                return value;
            case Opcodes.INSTANCEOF:
                calls.look(((TypeInsnNode) instruction).desc);
                return Value.PLAIN;
            case Opcodes.MONITORENTER:
                code.find(Finding.Kind.OPAQUE, owner, "locks something");
                return Value.PLAIN;
            case Opcodes.I2L, Opcodes.I2D, Opcodes.F2L, Opcodes.F2D, Opcodes.L2D, Opcodes.D2L:
            case Opcodes.LNEG, Opcodes.DNEG:
                return Value.WIDE;
            default:
                return Value.PLAIN;
        }
    }

    @Override
    public Value binaryOperation(AbstractInsnNode instruction, Value first, Value second) {
        switch (instruction.getOpcode()) {
            case Opcodes.AALOAD:
                return objects.read(first);
            case Opcodes.PUTFIELD:
                objects.change(
                        first,
                        new Finding(
                                Finding.Kind.EFFECT,
                                owner.getName(),
                                "writes the field " + ((FieldInsnNode) instruction).name));
                objects.store(first, second);
                code.writes(name((FieldInsnNode) instruction));
                return Value.PLAIN;
            case Opcodes.LALOAD, Opcodes.DALOAD:
            case Opcodes.LADD, Opcodes.LSUB, Opcodes.LMUL, Opcodes.LDIV, Opcodes.LREM:
            case Opcodes.LSHL, Opcodes.LSHR, Opcodes.LUSHR, Opcodes.LAND, Opcodes.LOR:
            case Opcodes.LXOR:
            case Opcodes.DADD, Opcodes.DSUB, Opcodes.DMUL, Opcodes.DDIV, Opcodes.DREM:
                return Value.WIDE;
            default:
                return Value.PLAIN;
        }
    }

    @Override
    public Value ternaryOperation(
            AbstractInsnNode instruction, Value array, Value index, Value value) {
        objects.change(
                array,
                new Finding(
                        Finding.Kind.EFFECT,
                        owner.getName(),
                        "writes into an array that it did not make"));
        objects.store(array, value);
        return Value.PLAIN;
    }

    @Override
    public Value naryOperation(AbstractInsnNode instruction, List<? extends Value> operands) {
        int index = position(instruction);
        if (instruction instanceof InvokeDynamicInsnNode dynamic) {
            return calls.dynamic(index, dynamic, ImmutableList.copyOf(operands));
        }
        if (instruction instanceof MethodInsnNode call) {
            return calls.call(
                    index,
                    call.getOpcode(),
                    call.owner,
                    call.name,
                    call.desc,
                    ImmutableList.copyOf(operands));
        }
        return objects.made(index, Value.PLAIN);
    }

    @Override
    public void returnOperation(AbstractInsnNode instruction, Value value, Value expected) {
        BitSet origins = value.origins();
        for (int origin = origins.nextSetBit(0);
                origin >= 0;
                origin = origins.nextSetBit(origin + 1)) {
            if (Value.isSite(origin)) {
                summary.returnsNew = true;
                objects.addHeld(origin, summary.returnsHolding);
            } else {
                summary.returns.set(origin);
            }
        }
        objects.escape(value);
    }

    @Override
    public Value merge(Value first, Value second) {
        return first.or(second);
    }
}
