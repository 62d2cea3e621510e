package org.djlplan.memplan.internal.djl.liveness;

import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/**
 * The effects of array methods on memory, by method name. A forward pass that writes into arrays
 * that it received cannot be repeated, so none of its arrays may be closed early.
 */
final class Effects {

    private static final ImmutableSet<String> WRITING =
            ImmutableSet.of(
                    "addi",
                    "subi",
                    "muli",
                    "divi",
                    "modi",
                    "powi",
                    "negi",
                    "signi",
                    "rdivi",
                    "rsubi",
                    "rmodi",
                    "rpowi",
                    "set",
                    "setScalar",
                    "put",
                    "intern",
                    "copyTo",
                    "setRequiresGradient",
                    "adadeltaUpdate",
                    "adagradUpdate",
                    "adamUpdate",
                    "nagUpdate",
                    "rmspropUpdate",
                    "sgdUpdate");

    private static final ImmutableSet<String> RANDOM =
            ImmutableSet.of(
                    "randomUniform",
                    "randomNormal",
                    "randomInteger",
                    "randomMultinomial",
                    "randomPermutation",
                    "randomBrightness",
                    "randomColorJitter",
                    "randomFlipLeftRight",
                    "randomFlipTopBottom",
                    "randomHue",
                    "sampleGamma",
                    "sampleNormal",
                    "samplePoisson",
                    "truncatedNormal");

    private static final ImmutableSet<String> OWNING =
            ImmutableSet.of("close", "attach", "tempAttach", "returnResource", "detach");

    /** Methods whose results never share memory with an operand. */
    private static final ImmutableSet<String> COMPUTING =
            ImmutableSet.of(
                    "add",
                    "sub",
                    "mul",
                    "div",
                    "mod",
                    "pow",
                    "rdiv",
                    "rsub",
                    "neg",
                    "abs",
                    "square",
                    "sqrt",
                    "cbrt",
                    "exp",
                    "log",
                    "log10",
                    "log2",
                    "sin",
                    "cos",
                    "tan",
                    "tanh",
                    "sigmoid",
                    "relu",
                    "leakyRelu",
                    "elu",
                    "selu",
                    "gelu",
                    "swish",
                    "mish",
                    "softPlus",
                    "softSign",
                    "softmax",
                    "logSoftmax",
                    "sum",
                    "mean",
                    "max",
                    "min",
                    "prod",
                    "cumSum",
                    "argMax",
                    "argMin",
                    "matMul",
                    "dot",
                    "batchMatMul",
                    "batchDot",
                    "linear",
                    "convolution",
                    "deconvolution",
                    "maxPool",
                    "avgPool",
                    "lpPool",
                    "globalMaxPool",
                    "globalAvgPool",
                    "globalLpPool",
                    "batchNorm",
                    "layerNorm",
                    "embedding",
                    "concat",
                    "stack",
                    "gt",
                    "gte",
                    "lt",
                    "lte",
                    "eq",
                    "neq",
                    "maximum",
                    "minimum",
                    "where",
                    "zerosLike",
                    "onesLike",
                    "like",
                    "duplicate",
                    "erf",
                    "floor",
                    "ceil",
                    "round",
                    "trunc",
                    "sign",
                    "oneHot",
                    "rnn",
                    "gru",
                    "lstm",
                    "tile",
                    "repeat",
                    "topK",
                    "booleanMask",
                    "gather",
                    "take");

    private Effects() {}

    /** Returns whether a method writes into an existing array. */
    static boolean writes(String method) {
        return WRITING.contains(method);
    }

    /** Returns whether a method draws random numbers, which changes the engine's generator. */
    static boolean draws(String method) {
        return RANDOM.contains(method);
    }

    /** Returns whether a method changes the time at which its array is closed. */
    static boolean changesOwner(String method) {
        return OWNING.contains(method);
    }

    /** Returns whether a result of the method may share memory with an operand. */
    static boolean mayShare(String method) {
        return !COMPUTING.contains(method);
    }
}
