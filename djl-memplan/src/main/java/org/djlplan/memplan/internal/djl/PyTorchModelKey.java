package org.djlplan.memplan.internal.djl;

import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.nn.SymbolBlock;
import ai.djl.util.Pair;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;
import org.djlplan.memplan.internal.config.Liveness;
import org.djlplan.memplan.internal.machine.CpuFeatures;
import org.djlplan.memplan.internal.store.ModelFiles;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.hash.Hasher;
import org.djlplan.thirdparty.guava.hash.Hashing;

/**
 * The facts that plans of a PyTorch model depend on: the archive of a TorchScript model, the tree
 * of blocks of an imperative one. Weights are not included. A block's own description is not used,
 * because DJL runs parts of a block to describe it.
 */
final class PyTorchModelKey {

    private static final String EXTENSION = ".pt";

    /**
     * Numbers and addresses in the names of lambda classes, which are part of block names and
     * differ between processes.
     */
    private static final Pattern PROCESS_SPECIFIC = Pattern.compile("\\$\\$Lambda[\\w$/]*");

    private PyTorchModelKey() {}

    /**
     * Returns the key of a model's plans, without inputs and threads.
     *
     * @param liveness mode of early closing
     */
    static StoreKey of(Model model, Block block, Liveness liveness) {
        Engine engine = model.getNDManager().getEngine();
        return new StoreKey(
                model.getName(),
                ImmutableMap.of(
                        "structure", structure(model, block),
                        "engine", engine.getEngineName() + ' ' + engine.getVersion(),
                        "djl", Engine.getDjlVersion(),
                        "cpu", CpuFeatures.current(),
                        "liveness", liveness.name()));
    }

    private static String structure(Model model, Block block) {
        if (block instanceof SymbolBlock) {
            Optional<Path> file = file(model);
            try {
                if (file.isPresent()) {
                    return ModelFiles.archiveStructure(file.get());
                }
            } catch (IOException e) {
                // Not an archive of the current format, so only the parameters are used.
            }
        }
        return structure(block);
    }

    /**
     * Returns the file from which the engine loaded a TorchScript model, searched in the engine's
     * own order; empty if the model has none.
     */
    static Optional<Path> file(Model model) {
        return model.getModelPath() == null
                ? Optional.empty()
                : file(model.getModelPath(), model.getName());
    }

    /** Returns the file in a folder that the engine would load for a model with this name. */
    static Optional<Path> file(Path folder, String model) {
        Path last = folder.getFileName();
        return ImmutableList.of(model, last == null ? "model" : last.toString(), "model").stream()
                .flatMap(name -> ImmutableList.of(name, name + EXTENSION).stream())
                .map(folder::resolve)
                .filter(Files::isRegularFile)
                .findFirst();
    }

    /** Returns a hash of the tree: classes, names and shapes of parameters. */
    private static String structure(Block block) {
        Hasher hasher = Hashing.sha256().newHasher();
        add(hasher, block);
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
        String same = PROCESS_SPECIFIC.matcher(text).replaceAll("");
        hasher.putInt(same.length()).putString(same, StandardCharsets.UTF_8);
    }
}
