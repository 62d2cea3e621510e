package org.djlplan.cli.demo;

/**
 * The way in which a sliding window treats the borders of an image, with TensorFlow Lite's own
 * numbers.
 */
public enum Padding {
    /** Zeros around the input: the output has ⌈input / stride⌉ places. */
    SAME(0),
    /** Whole windows only: the output has ⌈(input − window + 1) / stride⌉ places. */
    VALID(1);

    private final int code;

    Padding(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }

    int outputSize(int input, int window, int stride) {
        int places = this == SAME ? input : input - window + 1;
        return (places + stride - 1) / stride;
    }
}
