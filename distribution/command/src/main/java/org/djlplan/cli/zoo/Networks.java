package org.djlplan.cli.zoo;

import ai.djl.basicmodelzoo.basic.Mlp;
import ai.djl.basicmodelzoo.cv.classification.AlexNet;
import ai.djl.basicmodelzoo.cv.classification.GoogLeNet;
import ai.djl.basicmodelzoo.cv.classification.LeNet;
import ai.djl.basicmodelzoo.cv.classification.MobileNetV1;
import ai.djl.basicmodelzoo.cv.classification.MobileNetV2;
import ai.djl.basicmodelzoo.cv.classification.NiN;
import ai.djl.basicmodelzoo.cv.classification.ResNetV1;
import ai.djl.basicmodelzoo.cv.classification.SqueezeNet;
import ai.djl.basicmodelzoo.cv.classification.VGG;
import ai.djl.basicmodelzoo.cv.object_detection.ssd.SingleShotDetection;
import ai.djl.basicmodelzoo.cv.object_detection.yolo.YOLOV3;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataDesc;
import ai.djl.ndarray.types.DataType;
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
import ai.djl.nn.transformer.BertBlock;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedMap;

/**
 * The networks of DJL's {@code model-zoo}, and three networks that need only DJL's {@code api},
 * with the sizes given in their papers. Only building a network needs the model zoo.
 */
public final class Networks {

    private static final int CLASSES = 1000;
    private static final int WORDS = 1000;
    private static final int WORDS_PER_SENTENCE = 128;
    private static final int SSD_SCALES = 5;

    /** Every network by its name, with the shape of its input; sentences have three inputs. */
    private static final ImmutableSortedMap<String, Shape> SHAPES =
            ImmutableSortedMap.<String, Shape>naturalOrder()
                    .put("alexnet", images(224))
                    .put("bert", new Shape(1, WORDS_PER_SENTENCE))
                    .put("googlenet", images(224))
                    .put("layers", images(64))
                    .put("lenet", new Shape(1, 1, 28, 28))
                    .put("mlp", new Shape(1, 28 * 28))
                    .put("mobilenet_v1", images(224))
                    .put("mobilenet_v2", images(224))
                    .put("nin", images(224))
                    .put("resnet18", images(224))
                    .put("resnet50", images(224))
                    .put("squeezenet", images(224))
                    .put("ssd", images(256))
                    .put("tiny", images(32))
                    .put("vgg11", images(224))
                    .put("yolov3", images(256))
                    .buildOrThrow();

    private Networks() {}

    /** Returns the names of all networks, in alphabetical order. */
    public static Set<String> names() {
        return SHAPES.keySet();
    }

    /** Returns the network with a name, or empty if there is none. */
    public static Optional<Network> named(String name) {
        return Optional.ofNullable(SHAPES.get(name))
                .map(shape -> new Network(name, inputs(name, shape), () -> build(name)));
    }

    private static Shape images(long side) {
        return new Shape(1, 3, side, side);
    }

    /** The inputs of BERT are words, sentence types and mask. */
    private static List<DataDesc> inputs(String name, Shape shape) {
        return name.equals("bert")
                ? Collections.nCopies(3, new DataDesc(shape, DataType.INT64))
                : List.of(new DataDesc(shape, DataType.FLOAT32));
    }

    private static Block build(String name) {
        return switch (name) {
            case "alexnet" -> AlexNet.builder().setOutSize(CLASSES).build();
            case "bert" -> bert();
            case "googlenet" -> GoogLeNet.builder().setOutSize(CLASSES).build();
            case "layers" -> Layers.build();
            case "lenet" -> LeNet.builder().build();
            case "mlp" -> new Mlp(28 * 28, 10, new int[] {128, 64});
            case "mobilenet_v1" -> MobileNetV1.builder().setOutSize(CLASSES).build();
            case "mobilenet_v2" -> MobileNetV2.builder().setOutSize(CLASSES).build();
            case "nin" -> NiN.builder().build();
            case "resnet18" -> resnet(18);
            case "resnet50" -> resnet(50);
            case "squeezenet" -> SqueezeNet.squeezenet(CLASSES);
            case "ssd" -> ssd();
            case "tiny" -> tiny();
            case "vgg11" -> VGG.builder().setOutSize(CLASSES).build();
            case "yolov3" -> YOLOV3.builder().build();
            default -> throw new IllegalArgumentException(name);
        };
    }

    private static Block resnet(int layers) {
        return ResNetV1.builder()
                .setNumLayers(layers)
                .setOutSize(CLASSES)
                .setImageShape(new Shape(3, 224, 224))
                .build();
    }

    /** SSD as trained in DJL's own example. */
    private static Block ssd() {
        SequentialBlock base = new SequentialBlock();
        for (int filters : new int[] {16, 32, 64}) {
            base.add(SingleShotDetection.getDownSamplingBlock(filters));
        }
        return SingleShotDetection.builder()
                .setNumClasses(1)
                .setNumFeatures(3)
                .optGlobalPool(true)
                .setRatios(
                        ImmutableList.copyOf(
                                Collections.nCopies(SSD_SCALES, List.of(1f, 2f, 0.5f))))
                .setSizes(
                        List.of(
                                List.of(0.2f, 0.272f),
                                List.of(0.37f, 0.447f),
                                List.of(0.54f, 0.619f),
                                List.of(0.71f, 0.79f),
                                List.of(0.88f, 0.961f)))
                .setBaseNetwork(base)
                .build();
    }

    /** A small network that needs only the api, and loads and runs in almost no time. */
    private static Block tiny() {
        return new SequentialBlock()
                .add(convolution(8, 3))
                .add(Activation.reluBlock())
                .add(convolution(4, 1))
                .add(Activation.reluBlock())
                .add(Blocks.batchFlattenBlock())
                .add(Linear.builder().setUnits(10).build());
    }

    private static Block convolution(int filters, int side) {
        return Conv2d.builder()
                .setFilters(filters)
                .setKernelShape(new Shape(side, side))
                .optPadding(new Shape(side / 2, side / 2))
                .build();
    }

    /** DJL's BERT takes only sentences of its maximum length. */
    private static Block bert() {
        return BertBlock.builder()
                .base()
                .setTokenDictionarySize(WORDS)
                .optMaxSequenceLength(WORDS_PER_SENTENCE)
                .build();
    }

    /**
     * A network with the usual kinds of layers for images, with few weights. It needs only the api.
     */
    private static final class Layers {

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
                    // A single pixel uses a separate kernel in libtorch, which keeps a buffer
                    // permanently.
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

    /**
     * A network that DJL builds itself, without weights.
     *
     * @param name for users
     * @param inputs type and default shape of every input, the batch first
     * @param blocks builds it; may throw {@link NoClassDefFoundError} if DJL's model zoo is not on
     *     the class path
     */
    public record Network(String name, List<DataDesc> inputs, Supplier<Block> blocks) {

        public Network {
            inputs = ImmutableList.copyOf(inputs);
        }
    }
}
