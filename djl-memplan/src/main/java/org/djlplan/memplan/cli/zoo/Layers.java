package org.djlplan.memplan.cli.zoo;

import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.Blocks;
import ai.djl.nn.ParallelBlock;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.convolutional.Conv2d;
import ai.djl.nn.core.Linear;
import ai.djl.nn.norm.BatchNorm;
import ai.djl.nn.pooling.Pool;
import java.util.List;
import java.util.function.Function;

/** The usual kinds of layers of networks for images, with few weights. Of the api alone. */
final class Layers {

    private static final int CHANNELS = 32;

    private Layers() {}

    static Block build() {
        return new SequentialBlock()
                .add(convolution(CHANNELS, 3, 1, 1))
                .add(BatchNorm.builder().build())
                .add(Activation.relu6Block())
                .add(Pool.maxPool2dBlock(new Shape(3, 3), new Shape(2, 2), new Shape(1, 1)))
                .add(convolution(CHANNELS, 3, 2, CHANNELS))
                .add(convolution(2 * CHANNELS, 1, 1, 1))
                .add(branches(Layers::sum))
                .add(branches(Layers::concatenation))
                .add(convolution(2 * CHANNELS, 3, 2, 1))
                .add(Activation.reluBlock())
                .add(Pool.avgPool2dBlock(new Shape(8, 8)))
                // Of a single pixel: a kernel of its own in libtorch, with a buffer kept for good.
                .add(convolution(16 * CHANNELS, 1, 1, 1))
                .add(convolution(16 * CHANNELS, 1, 1, 1))
                .add(Pool.globalAvgPool2dBlock())
                .add(Blocks.batchFlattenBlock())
                .add(Linear.builder().setUnits(10).build());
    }

    private static Block convolution(int filters, int side, int stride, int groups) {
        return Conv2d.builder()
                .setFilters(filters)
                .setKernelShape(new Shape(side, side))
                .optPadding(new Shape(side / 2, side / 2))
                .optStride(new Shape(stride, stride))
                .optGroups(groups)
                .build();
    }

    private static Block branches(Function<List<NDList>, NDList> combination) {
        return new ParallelBlock(
                combination,
                List.of(convolution(CHANNELS, 3, 1, 1), convolution(CHANNELS, 1, 1, 1)));
    }

    private static NDList sum(List<NDList> branches) {
        return new NDList(branches.get(0).head().add(branches.get(1).head()));
    }

    private static NDList concatenation(List<NDList> branches) {
        return new NDList(
                NDArrays.concat(new NDList(branches.get(0).head(), branches.get(1).head()), 1));
    }
}
