package org.djlplan.cli.demo;

/** Activation function fused into an operator, with TFLite's own numbers. */
public enum Activation {
    NONE(0),
    RELU(1),
    RELU_N1_TO_1(2),
    RELU6(3),
    TANH(4);

    private final int code;

    Activation(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }
}
