package org.djlplan.memplan.djl;

import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.util.Pair;
import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/** What distinguishes imperative blocks without looking at weights. */
final class BlockStructure {

    /** Numbers and addresses that a JVM gives to lambda expressions and objects. */
    private static final Pattern PROCESS_SPECIFIC =
            Pattern.compile("\\$\\$Lambda[\\w$/]*|@[0-9a-f]+");

    private BlockStructure() {}

    /** Returns a hash of the tree: classes, parameters' names and shapes, and descriptions. */
    static String hash(Block block) {
        Hasher hasher = Hashing.sha256().newHasher();
        add(hasher, block);
        // Blocks describe there what the tree does not tell, such as strides.
        text(hasher, PROCESS_SPECIFIC.matcher(block.toString()).replaceAll(""));
        return hasher.hash().toString();
    }

    private static void add(Hasher hasher, Block block) {
        text(hasher, PROCESS_SPECIFIC.matcher(block.getClass().getName()).replaceAll(""));
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

    private static void text(Hasher hasher, String text) {
        hasher.putInt(text.length()).putString(text, StandardCharsets.UTF_8);
    }
}
