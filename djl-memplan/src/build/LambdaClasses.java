import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.djlplan.thirdparty.asm.ClassReader;
import org.djlplan.thirdparty.asm.ClassWriter;
import org.djlplan.thirdparty.asm.Handle;
import org.djlplan.thirdparty.asm.MethodVisitor;
import org.djlplan.thirdparty.asm.Opcodes;
import org.djlplan.thirdparty.asm.Type;
import org.djlplan.thirdparty.asm.tree.AbstractInsnNode;
import org.djlplan.thirdparty.asm.tree.ClassNode;
import org.djlplan.thirdparty.asm.tree.InvokeDynamicInsnNode;
import org.djlplan.thirdparty.asm.tree.MethodInsnNode;
import org.djlplan.thirdparty.asm.tree.MethodNode;

/**
 * Gives each lambda and method reference of compiled classes a class in a file. The JVM otherwise
 * makes these classes at run time, at the first use of each: a first model has almost 200 of them.
 * Making them takes longer than reading them, and occupies Java's compilers. Serializable lambdas
 * stay as they are. The bodies stay methods of their original classes.
 *
 * <p>Usage: {@code java -cp ASM LambdaClasses.java FOLDER}. A second run changes nothing.
 */
final class LambdaClasses implements Opcodes {

    private static final String MARK = "$$Lambda";

    /** How the compiler names a lambda's body. */
    private static final String BODY = "lambda$";

    private static final Type OBJECT = Type.getObjectType("java/lang/Object");

    private final Map<String, ClassNode> classes = new TreeMap<>();
    private final Map<String, byte[]> made = new TreeMap<>();
    private final List<ClassNode> changed = new ArrayList<>();

    public static void main(String[] arguments) throws IOException {
        new LambdaClasses().run(Path.of(arguments[0]));
    }

    private void run(Path folder) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(folder)) {
            files = all.filter(file -> file.toString().endsWith(".class")).sorted().toList();
        }
        for (Path file : files) {
            ClassNode node = new ClassNode();
            new ClassReader(Files.readAllBytes(file)).accept(node, 0);
            classes.put(node.name, node);
        }
        removeOutdated(folder);
        for (ClassNode node : List.copyOf(classes.values())) {
            replaceLambdas(node);
        }
        for (Map.Entry<String, byte[]> each : made.entrySet()) {
            Files.write(folder.resolve(each.getKey() + ".class"), each.getValue());
        }
        // Last: a run that was interrupted before begins again.
        for (ClassNode node : changed) {
            ClassWriter writer = new ClassWriter(0);
            node.accept(writer);
            Files.write(folder.resolve(node.name + ".class"), writer.toByteArray());
        }
    }

    /**
     * Deletes an earlier run's classes if the class with the lambda was compiled again, or is gone.
     */
    private void removeOutdated(Path folder) throws IOException {
        for (String name : List.copyOf(classes.keySet())) {
            int mark = name.indexOf(MARK);
            if (mark >= 0) {
                ClassNode own = classes.get(name.substring(0, mark));
                if (own == null
                        || own.methods.stream().anyMatch(LambdaClasses::hasLambdas)
                        || !isMember(name, own)) {
                    Files.delete(folder.resolve(name + ".class"));
                    classes.remove(name);
                }
            }
        }
    }

    private boolean isMember(String name, ClassNode own) {
        ClassNode host = host(own);
        return host != null && host.nestMembers != null && host.nestMembers.contains(name);
    }

    private ClassNode host(ClassNode node) {
        return classes.get(node.nestHostClass == null ? node.name : node.nestHostClass);
    }

    private static boolean hasLambdas(MethodNode method) {
        return Stream.of(method.instructions.toArray()).anyMatch(LambdaClasses::isLambda);
    }

    private static boolean isLambda(AbstractInsnNode instruction) {
        return instruction instanceof InvokeDynamicInsnNode call
                && call.bsm.getOwner().equals("java/lang/invoke/LambdaMetafactory")
                && call.bsm.getName().equals("metafactory");
    }

    private void replaceLambdas(ClassNode node) {
        ClassNode host = host(node);
        int count = 0;
        for (MethodNode method : node.methods) {
            for (AbstractInsnNode each : method.instructions.toArray()) {
                if (isLambda(each)) {
                    InvokeDynamicInsnNode call = (InvokeDynamicInsnNode) each;
                    String name = node.name + MARK + count++;
                    made.put(name, new Lambda(name, call).bytes(node.version, host.name));
                    // Only members of its nest may call a private method.
                    if (host.nestMembers == null) {
                        host.nestMembers = new ArrayList<>();
                    }
                    if (!host.nestMembers.contains(name)) {
                        host.nestMembers.add(name);
                    }
                    method.instructions.set(
                            each, new MethodInsnNode(INVOKESTATIC, name, "make", call.desc, false));
                    showBody(node, (Handle) call.bsmArgs[1]);
                }
            }
        }
        for (ClassNode each : count == 0 ? List.<ClassNode>of() : List.of(node, host)) {
            if (!changed.contains(each)) {
                changed.add(each);
            }
        }
    }

    /**
     * Renames a lambda's body, so that it looks like an ordinary method. Tools that check classes,
     * such as ArchUnit, recognize a body by its name and look for its call site, which is gone. So
     * they would ignore everything that the body uses.
     */
    private static void showBody(ClassNode node, Handle body) {
        for (MethodNode each : node.methods) {
            if (each.name.startsWith(BODY)
                    && each.name.equals(body.getName())
                    && each.desc.equals(body.getDesc())) {
                each.name = shownName(body);
                each.access &= ~ACC_SYNTHETIC;
            }
        }
    }

    private static String shownName(Handle body) {
        return body.getName().startsWith(BODY)
                ? "body$" + body.getName().substring(BODY.length())
                : body.getName();
    }

    /** The class of one lambda: its fields have what the lambda captures. */
    private static final class Lambda {

        private final Type self;
        private final String method;
        private final Type functional;
        private final Type[] captured;
        private final Type erased;
        private final Type instantiated;
        private final Handle body;

        Lambda(String name, InvokeDynamicInsnNode call) {
            self = Type.getObjectType(name);
            method = call.name;
            functional = Type.getReturnType(call.desc);
            captured = Type.getArgumentTypes(call.desc);
            erased = (Type) call.bsmArgs[0];
            body = (Handle) call.bsmArgs[1];
            instantiated = (Type) call.bsmArgs[2];
        }

        byte[] bytes(int version, String host) {
            ClassWriter to = new ClassWriter(ClassWriter.COMPUTE_MAXS);
            int access = ACC_FINAL | ACC_SUPER | ACC_SYNTHETIC;
            String[] interfaces = {functional.getInternalName()};
            to.visit(
                    version,
                    access,
                    self.getInternalName(),
                    null,
                    OBJECT.getInternalName(),
                    interfaces);
            to.visitNestHost(host);
            for (int i = 0; i < captured.length; i++) {
                to.visitField(
                        ACC_PRIVATE | ACC_FINAL, "c" + i, captured[i].getDescriptor(), null, null);
            }
            writeConstructor(to);
            writeFactory(to);
            writeMethod(to);
            to.visitEnd();
            return to.toByteArray();
        }

        private String constructor() {
            return Type.getMethodDescriptor(Type.VOID_TYPE, captured);
        }

        private void writeConstructor(ClassWriter to) {
            MethodVisitor code = to.visitMethod(ACC_PRIVATE, "<init>", constructor(), null, null);
            code.visitCode();
            code.visitVarInsn(ALOAD, 0);
            code.visitMethodInsn(INVOKESPECIAL, OBJECT.getInternalName(), "<init>", "()V", false);
            int local = 1;
            for (int i = 0; i < captured.length; i++) {
                code.visitVarInsn(ALOAD, 0);
                code.visitVarInsn(captured[i].getOpcode(ILOAD), local);
                field(code, PUTFIELD, "c" + i, captured[i]);
                local += captured[i].getSize();
            }
            end(code, RETURN);
        }

        /**
         * A lambda that captures nothing has one instance, like a lambda class that the JVM makes.
         */
        private void writeFactory(ClassWriter to) {
            String descriptor = Type.getMethodDescriptor(functional, captured);
            MethodVisitor code = to.visitMethod(ACC_STATIC, "make", descriptor, null, null);
            code.visitCode();
            if (captured.length == 0) {
                to.visitField(
                        ACC_PRIVATE | ACC_STATIC | ACC_FINAL,
                        "ONE",
                        self.getDescriptor(),
                        null,
                        null);
                MethodVisitor initializer =
                        to.visitMethod(ACC_STATIC, "<clinit>", "()V", null, null);
                initializer.visitCode();
                writeNew(initializer);
                field(initializer, PUTSTATIC, "ONE", self);
                end(initializer, RETURN);
                field(code, GETSTATIC, "ONE", self);
            } else {
                writeNew(code);
            }
            end(code, ARETURN);
        }

        private void writeNew(MethodVisitor code) {
            code.visitTypeInsn(NEW, self.getInternalName());
            code.visitInsn(DUP);
            int local = 0;
            for (Type each : captured) {
                code.visitVarInsn(each.getOpcode(ILOAD), local);
                local += each.getSize();
            }
            code.visitMethodInsn(
                    INVOKESPECIAL, self.getInternalName(), "<init>", constructor(), false);
        }

        /** Writes the interface's method, which calls the body with the body's types. */
        private void writeMethod(ClassWriter to) {
            MethodVisitor code =
                    to.visitMethod(ACC_PUBLIC, method, erased.getDescriptor(), null, null);
            code.visitCode();
            boolean creates = body.getTag() == H_NEWINVOKESPECIAL;
            Type owner = Type.getObjectType(body.getOwner());
            List<Type> parameters = new ArrayList<>();
            if (creates) {
                code.visitTypeInsn(NEW, body.getOwner());
                code.visitInsn(DUP);
            } else if (body.getTag() != H_INVOKESTATIC) {
                parameters.add(owner);
            }
            parameters.addAll(List.of(Type.getArgumentTypes(body.getDesc())));
            for (int i = 0; i < captured.length; i++) {
                code.visitVarInsn(ALOAD, 0);
                field(code, GETFIELD, "c" + i, captured[i]);
                convert(code, captured[i], parameters.get(i));
            }
            int local = 1;
            for (int i = 0; i < erased.getArgumentTypes().length; i++) {
                Type given = erased.getArgumentTypes()[i];
                Type known = instantiated.getArgumentTypes()[i];
                code.visitVarInsn(given.getOpcode(ILOAD), local);
                convert(code, given, known);
                convert(code, known, parameters.get(captured.length + i));
                local += given.getSize();
            }
            code.visitMethodInsn(
                    call(), body.getOwner(), shownName(body), body.getDesc(), body.isInterface());
            Type result = creates ? owner : Type.getReturnType(body.getDesc());
            convert(code, result, erased.getReturnType());
            end(code, erased.getReturnType().getOpcode(IRETURN));
        }

        private int call() {
            return switch (body.getTag()) {
                case H_INVOKESTATIC -> INVOKESTATIC;
                case H_NEWINVOKESPECIAL -> INVOKESPECIAL;
                default -> body.isInterface() ? INVOKEINTERFACE : INVOKEVIRTUAL;
            };
        }

        private void field(MethodVisitor code, int opcode, String name, Type type) {
            code.visitFieldInsn(opcode, self.getInternalName(), name, type.getDescriptor());
        }

        private static void end(MethodVisitor code, int opcode) {
            code.visitInsn(opcode);
            code.visitMaxs(0, 0);
            code.visitEnd();
        }
    }

    /** Converts the value on the stack, as Java does for a lambda's arguments and its result. */
    private static void convert(MethodVisitor code, Type from, Type to) {
        if (from.equals(to)) {
            return;
        }
        if (to.getSort() == Type.VOID) {
            if (from.getSort() != Type.VOID) {
                code.visitInsn(from.getSize() == 2 ? POP2 : POP);
            }
        } else if (isPrimitive(from) && isPrimitive(to)) {
            widen(code, from, to);
        } else if (isPrimitive(from)) {
            Type box = box(from);
            String descriptor = Type.getMethodDescriptor(box, from);
            code.visitMethodInsn(INVOKESTATIC, box.getInternalName(), "valueOf", descriptor, false);
        } else if (isPrimitive(to)) {
            Type box = isBox(from) ? from : box(to);
            Type value = value(box);
            convert(code, from, box);
            code.visitMethodInsn(
                    INVOKEVIRTUAL,
                    box.getInternalName(),
                    value.getClassName() + "Value",
                    Type.getMethodDescriptor(value),
                    false);
            convert(code, value, to);
        } else if (!to.equals(OBJECT)) {
            code.visitTypeInsn(CHECKCAST, to.getInternalName());
        }
    }

    private static void widen(MethodVisitor code, Type from, Type to) {
        int opcode =
                switch (from.getDescriptor() + to.getDescriptor()) {
                    case "IJ", "SJ", "BJ", "CJ" -> I2L;
                    case "ID", "SD", "BD", "CD" -> I2D;
                    case "IF", "SF", "BF", "CF" -> I2F;
                    case "JD" -> L2D;
                    case "JF" -> L2F;
                    case "FD" -> F2D;
                    default -> NOP;
                };
        code.visitInsn(opcode);
    }

    private static final Map<String, Type> BOXES =
            Map.of(
                    "Z", Type.getObjectType("java/lang/Boolean"),
                    "B", Type.getObjectType("java/lang/Byte"),
                    "C", Type.getObjectType("java/lang/Character"),
                    "S", Type.getObjectType("java/lang/Short"),
                    "I", Type.getObjectType("java/lang/Integer"),
                    "J", Type.getObjectType("java/lang/Long"),
                    "F", Type.getObjectType("java/lang/Float"),
                    "D", Type.getObjectType("java/lang/Double"));

    private static boolean isPrimitive(Type type) {
        return BOXES.containsKey(type.getDescriptor());
    }

    private static Type box(Type primitive) {
        return BOXES.get(primitive.getDescriptor());
    }

    private static boolean isBox(Type type) {
        return BOXES.containsValue(type);
    }

    private static Type value(Type box) {
        for (Map.Entry<String, Type> each : BOXES.entrySet()) {
            if (each.getValue().equals(box)) {
                return Type.getType(each.getKey());
            }
        }
        throw new IllegalArgumentException(box.toString());
    }
}
