package org.djlplan.memplan.internal.djl.purity;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.NDScope;
import ai.djl.ndarray.internal.NDArrayEx;
import ai.djl.nn.Parameter;
import ai.djl.training.ParameterStore;
import ai.djl.util.Pair;
import ai.djl.util.PairList;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.internal.djl.purity.Fact.Effect;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;
import org.djlplan.thirdparty.guava.collect.ImmutableSet;

/**
 * Facts about the methods of DJL's arrays, managers and lists, by name, for DJL 0.27 to 0.35. A
 * method in none of the tables is unknown, and thus not pure. DJL's blocks are not in the tables;
 * their code is analyzed like any other.
 */
final class DjlFacts {

    /** Methods whose results share no memory with operands. */
    private static final String COMPUTING =
            "decode diff ifft interpolation irfft pad rfft abs acos acosh add all any argMax argMin"
                    + " argSort asin asinh atan atan2 atanh batchDot batchMatMul cbrt ceil clip concat"
                    + " cos cosh countNonzero cumProd cumSum div dot duplicate eq erf erfinv exp floor"
                    + " gammaln gather gatherNd gt gte inverse isInfinite isNaN like log log10 log2"
                    + " logSoftmax logicalAnd logicalNot logicalOr logicalXor lt lte matMul max maximum"
                    + " mean min minimum mod mul neg neq none norm oneHot onesLike percentile pow prod"
                    + " repeat round scatter sequenceMask sign sin sinh softmax sqrt square stack sub"
                    + " sum take tan tanh tile toDegrees toRadians trace trunc xlogy zerosLike fft fft2"
                    + " ifft2 stft avgPool convolution deconvolution elu embedding gelu globalAvgPool"
                    + " globalLpPool globalMaxPool layerNorm leakyRelu linear lpPool maxPool mish prelu"
                    + " rdiv relu rmod rpow rsub selu sigmoid softPlus softSign swish toTensor where";

    /** Methods whose results may be views of an operand. */
    private static final String VIEWING =
            "broadcast complex conj crop diagonal expandDims flatten flip get getNDArrayInternal"
                    + " getArray normalize real reshape resize rotate90 scaleGradient squeeze"
                    + " stopGradient swapAxes toDense toDevice toSparse toType transpose";

    /** Methods whose results are lists of arrays. */
    private static final String LISTING =
            "median sort topK multiBoxPrior multiBoxTarget multiBoxDetection";

    /**
     * Methods that read properties of an array; changes that they undo at the end of a scope are
     * ignored.
     */
    private static final String ASKING =
            "getDataType getDevice getName getShape getSparseFormat getUid hasGradient hashCode"
                    + " isEmpty isScalar isSparse returnResource shapeEquals size"
                    + " tempAttach";

    /** Methods that return values to Java. */
    private static final String LOOKING =
            "allClose contentEquals encode equals getBoolean getByte getDouble getFloat getInt"
                    + " getLong getScalar getUint8 toArray toBooleanArray toByteArray toDebugString"
                    + " toDoubleArray toFloatArray toIntArray toLongArray toShortArray toString"
                    + " toStringArray toUint8Array toUnsignedIntArray toUnsignedShortArray";

    /** Methods whose results have shapes that depend on values. */
    private static final String SELECTING = "booleanMask nonzero unique";

    /** Methods that write into an array, or change its owner or its name. */
    private static final String CHANGING =
            "addi subi muli divi modi powi negi signi rdivi rsubi rmodi rpowi set setScalar put"
                    + " intern setRequiresGradient setName close attach detach adadeltaUpdate"
                    + " adagradUpdate adamUpdate nagUpdate rmspropUpdate sgdUpdate";

    private static final String RANDOM =
            "randomBrightness randomColorJitter randomFlipLeftRight randomFlipTopBottom randomHue"
                    + " randomInteger randomMultinomial randomNormal randomPermutation randomUniform"
                    + " sampleGamma sampleNormal samplePoisson truncatedNormal";

    /** Methods with additional effects in training. */
    private static final ImmutableMap<String, String> WHEN_TRAINING =
            ImmutableMap.of(
                    "dropout", "drops elements at random, as in training",
                    "batchNorm", "updates running statistics, as in training",
                    "rnn", "runs a recurrent network as in training",
                    "lstm", "runs a recurrent network as in training",
                    "gru", "runs a recurrent network as in training");

    private static final ImmutableMap<String, Fact> ARRAYS =
            ImmutableMap.<String, Fact>builder()
                    .putAll(rows(COMPUTING, Effect.VALUE))
                    .putAll(rows(VIEWING, Effect.SAME))
                    .putAll(rows(LISTING, Effect.LIST))
                    .putAll(rows("getResourceNDArrays split", Effect.FRESH))
                    .putAll(rows(ASKING, Effect.VALUE))
                    .putAll(rows(LOOKING, Effect.LOOKS))
                    .putAll(rows(SELECTING, Effect.FRESH_LOOKS))
                    .putAll(rows(CHANGING, Effect.CHANGES))
                    .putAll(rows("getManager getGradient getIndexer", Effect.FOUND))
                    .putAll(rows("copyTo", Effect.CHANGES_SECOND))
                    .putAll(random())
                    .buildOrThrow();

    private static final ImmutableMap<String, Fact> MANAGERS =
            ImmutableMap.<String, Fact>builder()
                    .putAll(
                            rows(
                                    "arange create createCSR createCoo createRowSparse decode"
                                            + " defaultDevice eye full getDevice getName hanningWindow"
                                            + " isOpen linspace newBaseManager newSubManager ones"
                                            + " subManagerOf tempAttachAll tempAttachInternal zeros"
                                            + " allocateDirect",
                                    Effect.VALUE))
                    .putAll(rows("from ret", Effect.SAME))
                    .putAll(rows("getEngine getParentManager", Effect.FOUND))
                    .putAll(
                            rows(
                                    "attachAll attachInternal attachUncappedInternal cap close"
                                            + " detachInternal setName",
                                    Effect.CHANGES))
                    .putAll(random())
                    .buildOrThrow();

    private static final ImmutableMap<String, Fact> LISTS =
            ImmutableMap.<String, Fact>builder()
                    .putAll(rows("head singletonOrThrow get", Effect.READS))
                    .putAll(rows("getManager", Effect.FOUND))
                    .putAll(rows("getShapes tempAttach decode", Effect.VALUE))
                    .putAll(rows("contains encode getAsBytes toString", Effect.LOOKS))
                    .putAll(rows("attach detach close", Effect.CHANGES_HELD))
                    .putAll(rows("getResourceNDArrays subNDList toDevice", Effect.FRESH))
                    .buildOrThrow();

    private static final ImmutableSet<String> ASKING_PARAMETERS =
            ImmutableSet.of(
                    "getName", "getShape", "getType", "getId", "isInitialized", "requiresGradient");

    private DjlFacts() {}

    private static ImmutableMap<String, Fact> rows(String names, Effect effect) {
        ImmutableMap.Builder<String, Fact> rows = ImmutableMap.builder();
        Splitter.on(' ').split(names).forEach(name -> rows.put(name, Fact.of(effect)));
        return rows.buildOrThrow();
    }

    private static ImmutableMap<String, Fact> random() {
        ImmutableMap.Builder<String, Fact> rows = ImmutableMap.builder();
        Fact fact = Fact.effect("draws random numbers");
        Splitter.on(' ').split(RANDOM).forEach(name -> rows.put(name, fact));
        return rows.buildOrThrow();
    }

    /** Returns the names of the known methods of arrays. */
    static Set<String> arrayMethods() {
        return ImmutableSet.<String>builder()
                .addAll(ARRAYS.keySet())
                .addAll(WHEN_TRAINING.keySet())
                .add("toByteBuffer", "isReleased")
                .build();
    }

    /** Returns whether methods of a class are looked up here instead of being analyzed. */
    static boolean cover(Class<?> type) {
        return type == NDList.class
                || type == NDArrays.class
                || type == NDScope.class
                || type == Parameter.class
                || type == ParameterStore.class
                || type == Device.class
                || Model.class.isAssignableFrom(type)
                || NDArray.class.isAssignableFrom(type)
                || NDArrayEx.class.isAssignableFrom(type)
                || NDManager.class.isAssignableFrom(type)
                || Engine.class.isAssignableFrom(type)
                || isContainer(type)
                || isValue(type)
                || type.getName().startsWith("ai.djl.ndarray.index.");
    }

    private static boolean isContainer(Class<?> type) {
        return type == Pair.class
                || (PairList.class.isAssignableFrom(type) && type.getName().startsWith("ai.djl."));
    }

    private static boolean isValue(Class<?> type) {
        return type.getName().startsWith("ai.djl.ndarray.types.");
    }

    /**
     * Returns the effects of a method; empty if they are unknown.
     *
     * @param flagged whether one of its flags, such as {@code training}, is or may be set
     */
    static Optional<Fact> of(Class<?> owner, String name, String descriptor, boolean flagged) {
        if (isValue(owner) || owner == Device.class) {
            return Optional.of(Fact.of(Effect.VALUE));
        }
        if (Model.class.isAssignableFrom(owner)) {
            return Optional.of(Fact.opaque("uses a model, whose block is not read"));
        }
        if (owner == NDScope.class) {
            return Optional.of(Fact.opaque("opens a scope of arrays of its own"));
        }
        if (owner == NDList.class) {
            Fact fact = LISTS.get(name);
            return Optional.ofNullable(fact).or(() -> JdkFacts.ofContainer(name, descriptor));
        }
        if (isContainer(owner)) {
            return JdkFacts.ofContainer(name, descriptor);
        }
        if (owner.getName().startsWith("ai.djl.ndarray.index.")) {
            boolean changes =
                    name.startsWith("add") || name.startsWith("set") || name.equals("<init>");
            return Optional.of(Fact.of(changes ? Effect.CHANGES : Effect.FRESH));
        }
        if (owner == Parameter.class) {
            return Optional.of(
                    name.equals("getArray")
                            ? Fact.of(Effect.FOUND)
                            : ASKING_PARAMETERS.contains(name)
                                    ? Fact.of(Effect.VALUE)
                                    : Fact.effect("changes a parameter"));
        }
        if (owner == ParameterStore.class) {
            return Optional.of(
                    name.equals("getValue") || name.equals("getManager")
                            ? Fact.of(Effect.FOUND)
                            : Fact.effect("changes the store of parameters"));
        }
        if (Engine.class.isAssignableFrom(owner)) {
            return name.startsWith("get") || name.startsWith("has")
                    ? Optional.of(Fact.of(Effect.FOUND))
                    : Optional.empty();
        }
        if (NDManager.class.isAssignableFrom(owner)) {
            return Optional.ofNullable(MANAGERS.get(name));
        }
        return ofArray(name, descriptor, flagged);
    }

    private static Optional<Fact> ofArray(String name, String descriptor, boolean flagged) {
        if (WHEN_TRAINING.containsKey(name)) {
            return Optional.of(
                    flagged
                            ? Fact.effect(WHEN_TRAINING.get(name))
                            : // Without dropping, the same array is returned.
                            Fact.of(name.equals("dropout") ? Effect.LIST_OF_FIRST : Effect.LIST));
        }
        if (name.equals("isReleased")) {
            return Optional.of(Fact.opaque("asks whether an array is closed"));
        }
        if (name.equals("toByteBuffer")) {
            return Optional.of(
                    descriptor.startsWith("()") || !flagged
                            ? Fact.of(Effect.LOOKS)
                            : Fact.opaque("hands out an array's memory"));
        }
        if (name.equals("get") && descriptor.startsWith("(Lai/djl/ndarray/NDArray;")) {
            return Optional.of(Fact.of(Effect.FRESH_LOOKS));
        }
        return Optional.ofNullable(ARRAYS.get(name));
    }
}
