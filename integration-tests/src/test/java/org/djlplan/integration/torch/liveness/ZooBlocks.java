package org.djlplan.integration.torch.liveness;

import ai.djl.basicmodelzoo.cv.classification.GoogLeNet;
import ai.djl.basicmodelzoo.cv.classification.LeNet;
import ai.djl.basicmodelzoo.cv.classification.MobileNetV1;
import ai.djl.basicmodelzoo.cv.classification.MobileNetV2;
import ai.djl.basicmodelzoo.cv.classification.ResNetV1;
import ai.djl.basicmodelzoo.cv.classification.SqueezeNet;
import ai.djl.basicmodelzoo.cv.classification.VGG;
import ai.djl.basicmodelzoo.cv.object_detection.ssd.SingleShotDetection;
import ai.djl.basicmodelzoo.cv.object_detection.yolo.YOLOV3;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.recurrent.GRU;
import ai.djl.nn.recurrent.LSTM;
import ai.djl.nn.transformer.BertBlock;
import ai.djl.training.initializer.NormalInitializer;
import java.util.ArrayList;
import java.util.List;

/**
 * DJL's own networks. Each has a bound for the memory of its predictions, as a share of the memory
 * without early closing: what was measured, plus a margin of a third.
 */
enum ZooBlocks {
    LENET(1),
    MOBILENET_V1(0.16),
    MOBILENET_V2(0.13),
    RESNET18(0.28),
    RESNET50(0.28),
    SQUEEZENET(0.34),
    GOOGLENET(0.31),
    VGG11(0.85),
    SSD(0.33),
    YOLO(0.25),
    BERT(0.4),
    LSTM_NET(1),
    GRU_NET(1);

    private final double share;

    ZooBlocks(double share) {
        this.share = share;
    }

    /** Returns the largest share of the memory without early closing. */
    double share() {
        return share;
    }

    /** Returns the shapes of the inputs, with a batch of 1. */
    private List<Shape> shapes() {
        return switch (this) {
            case BERT -> List.of(new Shape(1, 128), new Shape(1, 128), new Shape(1, 128));
            case LENET -> List.of(new Shape(1, 1, 28, 28));
            case SSD -> List.of(image(128));
            case LSTM_NET, GRU_NET -> List.of(new Shape(1, 12, 8));
            default -> List.of(image(64));
        };
    }

    /** Returns the network with parameters that belong to a manager. */
    Block initialized(NDManager manager) {
        Block block = block();
        block.setInitializer(new NormalInitializer(0.05f), Parameter.Type.WEIGHT);
        block.initialize(manager, DataType.FLOAT32, shapes().toArray(Shape[]::new));
        return block;
    }

    /** Returns inputs with a batch size: numbers, or tokens 0 and 1. */
    NDList inputs(NDManager manager, long batch) {
        NDList inputs = new NDList();
        for (Shape shape : shapes()) {
            long[] dimensions = shape.getShape().clone();
            dimensions[0] = batch;
            Shape actual = new Shape(dimensions);
            NDArray numbers = manager.arange(0f, (float) actual.size(), 1f).sin().reshape(actual);
            inputs.add(this == BERT ? numbers.gt(0).toType(DataType.INT64, true) : numbers.mul(2));
        }
        return inputs;
    }

    private Block block() {
        return switch (this) {
            case LENET -> LeNet.builder().build();
            case MOBILENET_V1 -> MobileNetV1.builder().setOutSize(10).build();
            case MOBILENET_V2 -> MobileNetV2.builder().setOutSize(10).build();
            case RESNET18 -> resnet(18);
            case RESNET50 -> resnet(50);
            case SQUEEZENET -> SqueezeNet.squeezenet(10);
            case GOOGLENET -> GoogLeNet.builder().setOutSize(10).build();
            case VGG11 -> VGG.builder().setNumLayers(11).setOutSize(10).build();
            case SSD -> ssd();
            case YOLO -> YOLOV3.builder().setNumClasses(4).build();
            case BERT -> BertBlock.builder().nano().setTokenDictionarySize(50).build();
            case LSTM_NET -> LSTM.builder().setStateSize(16).setNumLayers(2).build();
            case GRU_NET -> GRU.builder().setStateSize(16).setNumLayers(2).build();
        };
    }

    private static Shape image(int side) {
        return new Shape(1, 3, side, side);
    }

    private static Block resnet(int layers) {
        return ResNetV1.builder()
                .setNumLayers(layers)
                .setOutSize(10)
                .setImageShape(new Shape(3, 224, 224))
                .build();
    }

    private static Block ssd() {
        SequentialBlock base = new SequentialBlock();
        for (int filters : new int[] {16, 32, 64}) {
            base.add(SingleShotDetection.getDownSamplingBlock(filters));
        }
        List<List<Float>> ratios = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            ratios.add(List.of(1f, 2f, 0.5f));
        }
        return SingleShotDetection.builder()
                .setNumClasses(1)
                .setNumFeatures(3)
                .optGlobalPool(true)
                .setRatios(ratios)
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
}
