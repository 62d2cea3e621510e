package org.djlplan.integration.paper;

/** The six networks of Pisarchyk and Lee 2020, in the order of its tables. */
public enum PaperNetwork {
    MOBILENET_V1("MobileNet v1", 32),
    MOBILENET_V2("MobileNet v2", 32),
    DEEPLAB_V3("DeepLab v3", DeepLabV3.OUTPUT_STRIDE),
    INCEPTION_V3("Inception v3", 32),
    POSENET("PoseNet", 32),
    BLAZEFACE("BlazeFace", 16);

    private final String label;
    private final int outputStride;

    PaperNetwork(String label, int outputStride) {
        this.label = label;
        this.outputStride = outputStride;
    }

    /** Returns the name that the paper's tables give it. */
    public String label() {
        return label;
    }

    /** Returns the product of all strides before the last features. */
    public int outputStride() {
        return outputStride;
    }

    /** Returns its graph. */
    public NetworkSketch sketch() {
        return switch (this) {
            case MOBILENET_V1 -> MobileNetV1.sketch();
            case MOBILENET_V2 -> MobileNetV2.sketch();
            case DEEPLAB_V3 -> DeepLabV3.sketch();
            case INCEPTION_V3 -> InceptionV3.sketch();
            case POSENET -> PoseNet.sketch();
            case BLAZEFACE -> BlazeFace.sketch();
        };
    }
}
