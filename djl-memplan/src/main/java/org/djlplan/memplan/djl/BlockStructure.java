package org.djlplan.memplan.djl;

import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.util.Pair;
import com.google.common.hash.Hasher;
import com.google.common.hash.Hashing;
import java.nio.charset.StandardCharsets;

/** What distinguishes imperative blocks without looking at weights. */
final class BlockStructure {

    private BlockStructure() {}

    /** Returns a hash of the tree: classes, parameters' names and shapes, and descriptions. */
    static String hash(Block block) {
        Hasher hasher = Hashing.sha256().newHasher();
        add(hasher, block);
        // Sequential and convolutional blocks describe there what the tree does not tell.
        text(hasher, block.toString());
        return hasher.hash().toString();
    }

    private static void add(Hasher hasher, Block block) {
        text(hasher, block.getClass().getName());
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
