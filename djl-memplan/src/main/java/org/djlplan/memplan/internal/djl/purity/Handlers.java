package org.djlplan.memplan.internal.djl.purity;

import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import java.util.function.Predicate;
import org.djlplan.thirdparty.asm.Opcodes;
import org.djlplan.thirdparty.asm.tree.AbstractInsnNode;
import org.djlplan.thirdparty.asm.tree.JumpInsnNode;
import org.djlplan.thirdparty.asm.tree.LabelNode;
import org.djlplan.thirdparty.asm.tree.LookupSwitchInsnNode;
import org.djlplan.thirdparty.asm.tree.MethodInsnNode;
import org.djlplan.thirdparty.asm.tree.MethodNode;
import org.djlplan.thirdparty.asm.tree.TableSwitchInsnNode;
import org.djlplan.thirdparty.asm.tree.TryCatchBlockNode;
import org.djlplan.thirdparty.asm.tree.TypeInsnNode;
import org.djlplan.thirdparty.asm.tree.analysis.Frame;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/**
 * The exception handlers of one method. The engine rejects an array that was closed too early with
 * an {@link IllegalStateException}. A handler that catches this exception must throw it again, or a
 * {@link RuntimeException} in its place. Otherwise the pass continues, and nothing shows that its
 * outputs are wrong.
 */
final class Handlers {

    private static final ImmutableSet<String> CATCHING =
            ImmutableSet.of(
                    "java/lang/Throwable",
                    "java/lang/Exception",
                    "java/lang/RuntimeException",
                    "java/lang/IllegalStateException",
                    "java/lang/MatchException");

    /**
     * Exceptions that a handler may throw instead: a handler around the call that catches one is
     * itself in {@link #CATCHING}. Java's patterns throw the last one.
     */
    private static final ImmutableSet<String> WRAPPING =
            ImmutableSet.of(
                    "java/lang/RuntimeException",
                    "java/lang/IllegalStateException",
                    "java/lang/MatchException");

    private final MethodNode method;
    private final List<Frame<Value>> frames;

    /**
     * @param frames the values before each instruction; null for an unreachable one
     */
    Handlers(MethodNode method, List<Frame<Value>> frames) {
        this.method = method;
        this.frames = frames;
    }

    /**
     * Returns whether a handler may hide the engine's exception. Failures of the handler's own code
     * are ignored.
     *
     * @param harmless tells by a class's internal name whether its methods never use arrays
     */
    boolean hideErrors(Predicate<String> harmless) {
        for (TryCatchBlockNode block : method.tryCatchBlocks) {
            if ((block.type == null || CATCHING.contains(block.type))
                    && protectsCalls(block, harmless)
                    && !throwsAgain(position(block.handler))) {
                return true;
            }
        }
        return false;
    }

    private boolean protectsCalls(TryCatchBlockNode block, Predicate<String> harmless) {
        int end = position(block.end);
        for (int i = position(block.start); i < end; i++) {
            if (frames.get(i) != null
                    && method.instructions.get(i) instanceof MethodInsnNode call
                    && !harmless.test(call.owner)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns whether all paths from a handler end by throwing an exception that was caught, or one
     * that replaces it.
     */
    private boolean throwsAgain(int handler) {
        BitSet seen = new BitSet();
        Deque<Integer> queue = new ArrayDeque<>();
        queue.add(handler);
        while (!queue.isEmpty()) {
            int index = queue.poll();
            if (frames.get(index) == null || seen.get(index)) {
                continue;
            }
            seen.set(index);
            AbstractInsnNode instruction = method.instructions.get(index);
            int opcode = instruction.getOpcode();
            if (opcode == Opcodes.ATHROW) {
                if (!passesErrorOn(index)) {
                    return false;
                }
            } else if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
                return false;
            } else if (instruction instanceof LookupSwitchInsnNode choice) {
                choice.labels.forEach(label -> queue.add(position(label)));
                queue.add(position(choice.dflt));
            } else if (instruction instanceof TableSwitchInsnNode choice) {
                choice.labels.forEach(label -> queue.add(position(label)));
                queue.add(position(choice.dflt));
            } else {
                if (instruction instanceof JumpInsnNode jump) {
                    queue.add(position(jump.label));
                }
                if (opcode != Opcodes.GOTO) {
                    queue.add(index + 1);
                }
            }
        }
        return true;
    }

    /**
     * Returns whether the thrown exception is one that a handler of this method caught, or one that
     * replaces it.
     */
    private boolean passesErrorOn(int index) {
        Frame<Value> frame = frames.get(index);
        BitSet origins = (BitSet) frame.getStack(frame.getStackSize() - 1).origins().clone();
        origins.clear(Value.SHARED);
        boolean caught = !origins.isEmpty();
        for (TryCatchBlockNode block : method.tryCatchBlocks) {
            origins.clear(Value.site(position(block.handler)));
        }
        for (int i = 0; i < method.instructions.size() && !origins.isEmpty(); i++) {
            if (method.instructions.get(i) instanceof TypeInsnNode made
                    && made.getOpcode() == Opcodes.NEW
                    && WRAPPING.contains(made.desc)) {
                origins.clear(Value.site(i));
            }
        }
        return caught && origins.isEmpty();
    }

    private int position(LabelNode label) {
        return method.instructions.indexOf(label);
    }
}
