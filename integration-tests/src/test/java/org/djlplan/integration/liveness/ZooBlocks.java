package org.djlplan.integration.liveness;

import ai.djl.basicmodelzoo.cv.classification.GoogLeNet;
import ai.djl.basicmodelzoo.cv.classification.LeNet;
import ai.djl.basicmodelzoo.cv.classification.MobileNetV1;
import ai.djl.basicmodelzoo.cv.classification.MobileNetV2;
import ai.djl.basicmodelzoo.cv.classification.ResNetV1;
import ai.djl.basicmodelzoo.cv.classification.SqueezeNet;
import ai.djl.basicmodelzoo.cv.classification.VGG;
import ai.djl.basicmodelzoo.cv.object_detection.ssd.SingleShotDetection;
import ai.djl.basicmodelzoo.cv.object_detection.yolo.YOLOV3;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.recurrent.GRU;
import ai.djl.nn.recurrent.LSTM;
import ai.djl.nn.transformer.BertBlock;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * DJL's own networks, and how much of what DJL keeps alive may be left. The bounds for images are
 * those measured at 224×224 and 256×256 with a margin of one half; smaller images change them
 * little, as all arrays but the last few shrink alike.
 */
enum ZooBlocks {
    LENET(() -> LeNet.builder().build(), 0.8, new Shape(1, 1, 28, 28)),
    MOBILENET_V1(() -> MobileNetV1.builder().setOutSize(10).build(), 0.17, image(64)),
    MOBILENET_V2(() -> MobileNetV2.builder().setOutSize(10).build(), 1.0 / 7, image(64)),
    RESNET18(() -> resnet(18), 0.32, image(64)),
    RESNET50(() -> resnet(50), 1.0 / 10, image(64)),
    SQUEEZENET(() -> SqueezeNet.squeezenet(10), 0.32, image(64)),
    GOOGLENET(() -> GoogLeNet.builder().setOutSize(10).build(), 0.26, image(64)),
    VGG11(() -> VGG.builder().setNumLayers(11).setOutSize(10).build(), 0.52, image(64)),
    SSD(ZooBlocks::ssd, 0.38, image(128)),
    YOLO(() -> YOLOV3.builder().setNumClasses(4).build(), 0.16, image(64)),
    BERT(
            () -> BertBlock.builder().nano().setTokenDictionarySize(50).build(),
            0.36,
            new Shape(1, 16),
            new Shape(1, 16),
            new Shape(1, 16)),
    LSTM_NET(
            () -> LSTM.builder().setStateSize(16).setNumLayers(2).optReturnState(false).build(),
            1.0,
            new Shape(1, 12, 8)),
    GRU_NET(
            () -> GRU.builder().setStateSize(16).setNumLayers(2).optReturnState(false).build(),
            1.0,
            new Shape(1, 12, 8));

    private final Supplier<Block> block;
    private final double share;
    private final Shape[] shapes;

    ZooBlocks(Supplier<Block> block, double share, Shape... shapes) {
        this.block = block;
        this.share = share;
        this.shapes = shapes;
    }

    Sample sample() {
        return new Sample(block.get(), shapes);
    }

    /** Returns which share of the bytes that DJL keeps may be alive at once. */
    double share() {
        return share;
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
