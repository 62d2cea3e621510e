package org.djlplan.memplan.internal.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.util.Pair;
import java.io.IOException;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.runtime.torch.WeightFile;

/**
 * Moves the parameters of an imperative block, which DJL loads into buffers of the JVM, into the
 * {@link WeightFile}, where the engine's large allocations go.
 */
final class ParameterMove {

    private ParameterMove() {}

    /** Returns the bytes of a block's parameters, its children's included. */
    static long bytes(Block block) {
        return parameters(block).stream().mapToLong(ParameterMove::bytes).sum();
    }

    /** Returns the bytes of each of a block's parameters, its children's included, by name. */
    static Map<String, Long> bytesByName(Block block) {
        Map<String, Long> bytes = new LinkedHashMap<>();
        for (Pair<String, Parameter> named : block.getParameters()) {
            if (named.getValue().isInitialized()) {
                bytes.put(named.getKey(), bytes(named.getValue()));
            }
        }
        return bytes;
    }

    private static long bytes(Parameter parameter) {
        NDArray array = parameter.getArray();
        return array.size() * array.getDataType().getNumOfBytes();
    }

    /** Returns the initialized parameters; others have no bytes yet. */
    private static List<Parameter> parameters(Block block) {
        List<Parameter> initialised = new ArrayList<>();
        for (Parameter parameter : block.getParameters().values()) {
            if (parameter.isInitialized()) {
                initialised.add(parameter);
            }
        }
        return initialised;
    }

    /** Returns the initialized parameters in order, grouped by the array that they share. */
    private static List<List<Parameter>> byArray(Block block) {
        List<List<Parameter>> all = new ArrayList<>();
        // Arrays are equal if their content is.
        IdentityHashMap<NDArray, List<Parameter>> known = new IdentityHashMap<>();
        for (Parameter parameter : parameters(block)) {
            List<Parameter> sharing = known.get(parameter.getArray());
            if (sharing == null) {
                sharing = new ArrayList<>();
                known.put(parameter.getArray(), sharing);
                all.add(sharing);
            }
            sharing.add(parameter);
        }
        return all;
    }

    /**
     * Moves the parameters one after another: each old array is closed before the next one is
     * copied. Parameters that share an array share its copy. Arrays that record gradients stay
     * where they are.
     *
     * @param file must not be loading yet
     * @throws IOException if the file cannot grow, or a parameter has an unknown form
     */
    static void move(Block block, WeightFile file) throws IOException {
        try {
            Field field = Parameter.class.getDeclaredField("array");
            field.setAccessible(true);
            file.beginLoad();
            for (List<Parameter> sharing : byArray(block)) {
                NDArray old = sharing.get(0).getArray();
                if (!old.hasGradient()) {
                    NDArray copy = old.duplicate();
                    copy.setName(old.getName());
                    for (Parameter parameter : sharing) {
                        field.set(parameter, copy);
                    }
                    old.close();
                }
            }
            file.endLoad();
        } catch (ReflectiveOperationException | RuntimeException e) {
            file.abandonLoad();
            throw new IOException("parameters cannot be moved", e);
        }
        // The garbage collector frees the buffers of the old arrays.
        System.gc();
        ProcessMemory.trim();
    }
}
