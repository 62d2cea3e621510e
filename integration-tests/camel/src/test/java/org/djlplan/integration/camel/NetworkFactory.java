package org.djlplan.integration.camel;

import ai.djl.Model;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.BlockFactory;
import ai.djl.nn.Blocks;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.convolutional.Conv2d;
import ai.djl.nn.core.Linear;
import ai.djl.nn.pooling.Pool;
import java.nio.file.Path;
import java.util.Map;

/** Makes the blocks of a network whose weights are in a model's folder. */
public class NetworkFactory implements BlockFactory {

    private static final long serialVersionUID = 1;

    @Override
    public Block newBlock(Model model, Path modelPath, Map<String, ?> arguments) {
        return network();
    }

    static Block network() {
        return new SequentialBlock()
                .add(convolution(16))
                .add(Activation.reluBlock())
                .add(convolution(32))
                .add(Activation.reluBlock())
                .add(Pool.globalAvgPool2dBlock())
                .add(Blocks.batchFlattenBlock())
                .add(Linear.builder().setUnits(1001).build());
    }

    private static Block convolution(int filters) {
        return Conv2d.builder()
                .setFilters(filters)
                .setKernelShape(new Shape(3, 3))
                .optStride(new Shape(2, 2))
                .build();
    }
}
