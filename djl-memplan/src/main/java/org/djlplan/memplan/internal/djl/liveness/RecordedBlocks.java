package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.training.ParameterStore;
import ai.djl.util.Pair;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.internal.source.block.BlockRecording;

/** Records blocks by running them once on arrays of zeros. */
public final class RecordedBlocks {

    private RecordedBlocks() {}

    /**
     * Runs a block once for inference, on arrays of zeros, and returns the recording.
     *
     * @param block an initialized block of an engine that has NDArray operations
     * @param manager of that engine; nothing is left attached to it
     * @param inputTypes element types and shapes of the inputs
     * @throws IllegalArgumentException if there are no inputs, or one has a type that DJL does not
     *     have
     * @throws IllegalStateException if the block cannot be recorded; the message says why
     */
    public static BlockRecording record(
            Block block, NDManager manager, List<ArrayType> inputTypes) {
        if (inputTypes.isEmpty()) {
            throw new IllegalArgumentException("a block without inputs");
        }
        if (!CreationScope.available()) {
            throw new IllegalStateException("this version of DJL does not tell of new arrays");
        }
        return record(
                inputTypes,
                manager,
                inputs -> {
                    ParameterStore store = new ParameterStore(inputs.getManager(), false);
                    try {
                        return BlockRecorder.recordOnce(
                                block, new ForwardPass(store, inputs, Optional.empty()));
                    } catch (RuntimeException e) {
                        throw new IllegalStateException(e.toString(), e);
                    }
                });
    }

    /**
     * Names the parameters of a block by their paths in the tree of blocks, as recordings show
     * them: {@code 02inner/01Linear/weight}.
     *
     * @param block an initialized block; previous names of its arrays are lost
     */
    public static void nameParameters(Block block) {
        nameParameters(block, "");
    }

    private static void nameParameters(Block block, String path) {
        for (Pair<String, Parameter> parameter : block.getDirectParameters()) {
            if (parameter.getValue().isInitialized()) {
                parameter.getValue().getArray().setName(path + parameter.getKey());
            }
        }
        for (Pair<String, Block> child : block.getChildren()) {
            nameParameters(child.getValue(), path + child.getKey() + '/');
        }
    }

    /** Records a pass on zeros; throws as {@link #record(Block, NDManager, List)}. */
    static BlockRecording record(
            List<ArrayType> inputTypes,
            NDManager manager,
            Function<NDList, BlockRecorder.Outcome> recorder) {
        try (NDManager scope = manager.newSubManager()) {
            NDList inputs = new NDList();
            for (ArrayType type : inputTypes) {
                inputs.add(scope.zeros(ArrayTypes.shape(type), ArrayTypes.dataType(type)));
            }
            BlockRecorder.Outcome outcome = recorder.apply(inputs);
            return outcome.recording().orElseThrow(() -> new IllegalStateException(outcome.flaw()));
        }
    }
}
