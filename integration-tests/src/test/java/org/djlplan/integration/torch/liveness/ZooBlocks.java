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
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.recurrent.GRU;
import ai.djl.nn.recurrent.LSTM;
import ai.djl.nn.transformer.BertBlock;
import java.util.ArrayList;
import java.util.List;

/**
 * DJL's own networks. Each has a bound for planned live memory, as a share of DJL's. Bounds for
 * images were measured at 224×224 and 256×256, plus a margin of one half. Smaller images change the
 * shares little, because all arrays but the last few shrink alike.
 */
enum ZooBlocks {
    LENET(0.8),
    MOBILENET_V1(0.17),
    MOBILENET_V2(1.0 / 7),
    RESNET18(0.32),
    RESNET50(1.0 / 10),
    SQUEEZENET(0.32),
    GOOGLENET(0.26),
    VGG11(0.52),
    SSD(0.38),
    YOLO(0.16),
    BERT(0.36),
    LSTM_NET(1),
    GRU_NET(1);

    private final double share;

    ZooBlocks(double share) {
        this.share = share;
    }

    /** Returns the largest share of DJL's live bytes that may be alive at once. */
    double share() {
        return share;
    }

    Sample sample() {
        return switch (this) {
            case BERT ->
                    new Sample(
                            block(),
                            DataType.INT64,
                            new Shape(1, 128),
                            new Shape(1, 128),
                            new Shape(1, 128));
            case LENET -> new Sample(block(), new Shape(1, 1, 28, 28));
            case SSD -> new Sample(block(), image(128));
            case LSTM_NET, GRU_NET -> new Sample(block(), new Shape(1, 12, 8));
            default -> new Sample(block(), image(64));
        };
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
