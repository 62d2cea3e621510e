package org.djlplan.memplan.djl;

import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.util.Pair;
import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Pattern;

/**
 * What distinguishes imperative blocks without looking at weights. Their own descriptions will not
 * do: DJL runs parts of a block to describe it.
 */
final class BlockStructure {

    /**
     * Numbers and addresses that a JVM gives to the classes of lambda expressions, after which
     * blocks are named.
     */
    private static final Pattern PROCESS_SPECIFIC = Pattern.compile("\\$\\$Lambda[\\w$/]*");

    private BlockStructure() {}

    /** Returns a hash of the tree: classes, settings, names and shapes of parameters. */
    static String hash(Block block) {
        Hasher hasher = Hashing.sha256().newHasher();
        add(hasher, block);
        return hasher.hash().toString();
    }

    private static void add(Hasher hasher, Block block) {
        text(hasher, block.getClass().getName());
        for (Class<?> type = block.getClass(); type != null; type = type.getSuperclass()) {
            addSettings(hasher, block, type);
        }
        for (Pair<String, Parameter> parameter : block.getDirectParameters()) {
            Parameter value = parameter.getValue();
            text(hasher, parameter.getKey());
            text(hasher, value.isInitialized() ? value.getArray().getShape().toString() : "?");
        }
        hasher.putInt(block.getChildren().size());
        for (Pair<String, Block> child : block.getChildren()) {
            text(hasher, child.getKey());
            add(hasher, child.getValue());
        }
    }

    /** Adds the simple fields of one class, such as strides and flags. */
    private static void addSettings(Hasher hasher, Block block, Class<?> type) {
        for (Field field : type.getDeclaredFields()) {
            if (Modifier.isStatic(field.getModifiers()) || !isSimple(field.getType())) {
                continue;
            }
            try {
                field.setAccessible(true);
                Object value = field.get(block);
                text(hasher, field.getName());
                text(hasher, Arrays.deepToString(new Object[] {value}));
            } catch (ReflectiveOperationException | RuntimeException e) {
                // Hidden in a module: the rest has to do, plans are verified when they are used.
                text(hasher, field.getName());
            }
        }
    }

    private static boolean isSimple(Class<?> type) {
        return type.isArray()
                ? isSimple(type.getComponentType())
                : type.isPrimitive()
                        || type.isEnum()
                        || type == String.class
                        || type == Shape.class
                        || (Number.class.isAssignableFrom(type) && !isMutable(type));
    }

    private static boolean isMutable(Class<?> number) {
        return number.getName().startsWith("java.util.concurrent");
    }

    private static void text(Hasher hasher, String text) {
        String same = PROCESS_SPECIFIC.matcher(text).replaceAll("");
        hasher.putInt(same.length()).putString(same, StandardCharsets.UTF_8);
    }
}
