package org.djlplan.memplan.internal.djl.purity;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.zip.Adler32;
import java.util.zip.CRC32;
import org.djlplan.thirdparty.asm.ClassReader;
import org.djlplan.thirdparty.asm.Handle;
import org.djlplan.thirdparty.asm.Opcodes;
import org.djlplan.thirdparty.asm.tree.AbstractInsnNode;
import org.djlplan.thirdparty.asm.tree.ClassNode;
import org.djlplan.thirdparty.asm.tree.InvokeDynamicInsnNode;
import org.djlplan.thirdparty.asm.tree.MethodNode;
import org.djlplan.thirdparty.guava.cache.Cache;
import org.djlplan.thirdparty.guava.cache.CacheBuilder;
import org.djlplan.thirdparty.guava.io.ByteStreams;

/** The class file of a loaded class, read once for all blocks that need it. */
final class ClassFile {

    private static final Cache<Class<?>, Optional<ClassFile>> READ =
            CacheBuilder.newBuilder().weakKeys().softValues().build();

    private final String hash;
    private final ClassNode node;
    private final Map<String, MethodNode> methods = new HashMap<>();

    private ClassFile(byte[] bytes) {
        // Both are native code; other hashes would dominate the time in a young JVM.
        CRC32 first = new CRC32();
        first.update(bytes);
        Adler32 second = new Adler32();
        second.update(bytes);
        hash = bytes.length + "." + first.getValue() + '.' + second.getValue();
        node = new ClassNode();
        new ClassReader(bytes).accept(node, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        node.methods.forEach(method -> methods.put(method.name + method.desc, method));
    }

    /** Returns the file of a class; empty if it has none, as for generated classes. */
    static Optional<ClassFile> of(Class<?> type) {
        Optional<ClassFile> known = READ.getIfPresent(type);
        if (known == null) {
            known = read(type);
            READ.put(type, known);
        }
        return known;
    }

    private static Optional<ClassFile> read(Class<?> type) {
        if (type.isHidden() || type.isArray() || type.isPrimitive()) {
            return Optional.empty();
        }
        String name = '/' + type.getName().replace('.', '/') + ".class";
        try (InputStream stream = type.getResourceAsStream(name)) {
            return stream == null
                    ? Optional.empty()
                    : Optional.of(new ClassFile(ByteStreams.toByteArray(stream)));
        } catch (IOException | RuntimeException e) {
            // Damaged, or in a newer format than supported: the code is unknown.
            return Optional.empty();
        }
    }

    /** Returns a hash of the file. */
    String hash() {
        return hash;
    }

    /** Returns a method declared by the class itself. */
    Optional<MethodNode> method(String name, String descriptor) {
        return Optional.ofNullable(methods.get(name + descriptor));
    }

    /** Returns the methods with code. */
    List<MethodNode> methods() {
        return node.methods;
    }

    /** Returns the instructions that create objects of lambda expressions and method references. */
    List<InvokeDynamicInsnNode> lambdas() {
        List<InvokeDynamicInsnNode> found = new ArrayList<>();
        for (MethodNode method : node.methods) {
            found.addAll(lambdas(method));
        }
        return found;
    }

    /** Returns the only lambda expression in the methods with a name. */
    Optional<InvokeDynamicInsnNode> lambda(String methodName) {
        List<InvokeDynamicInsnNode> found = new ArrayList<>();
        for (MethodNode method : node.methods) {
            if (method.name.equals(methodName)) {
                found.addAll(lambdas(method));
            }
        }
        return found.size() == 1 ? Optional.of(found.get(0)) : Optional.empty();
    }

    private static List<InvokeDynamicInsnNode> lambdas(MethodNode method) {
        List<InvokeDynamicInsnNode> found = new ArrayList<>();
        for (AbstractInsnNode instruction : method.instructions) {
            if (instruction instanceof InvokeDynamicInsnNode dynamic && isLambda(dynamic)) {
                found.add(dynamic);
            }
        }
        return found;
    }

    static boolean isLambda(InvokeDynamicInsnNode dynamic) {
        return dynamic.bsm.getOwner().equals("java/lang/invoke/LambdaMetafactory");
    }

    /** Returns the method with the body of a lambda expression. */
    static Handle body(InvokeDynamicInsnNode lambda) {
        return (Handle) lambda.bsmArgs[1];
    }

    static boolean hasCode(MethodNode method) {
        return (method.access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE)) == 0;
    }
}
