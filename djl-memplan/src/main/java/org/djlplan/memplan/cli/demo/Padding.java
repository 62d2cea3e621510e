package org.djlplan.memplan.cli.demo;

/** Treatment of the border by a sliding window, with TFLite's own numbers. */
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
