package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.Device;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.index.dim.NDIndexBooleans;
import ai.djl.ndarray.index.dim.NDIndexElement;
import ai.djl.ndarray.index.dim.NDIndexPick;
import ai.djl.ndarray.index.dim.NDIndexTake;
import ai.djl.ndarray.internal.NDArrayEx;
import ai.djl.ndarray.types.Shape;
import java.lang.reflect.Array;
import java.nio.Buffer;
import java.nio.charset.Charset;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The arguments of a method, with stand-ins replaced by real objects, and the arrays among them.
 */
final class Operands {

    private final List<NDArray> arrays = new ArrayList<>();
    private boolean opaque;

    Operands(Optional<NDArray> target) {
        target.ifPresent(arrays::add);
    }

    /** Returns the arrays so far, the method's target first. */
    List<NDArray> arrays() {
        return arrays;
    }

    /** Returns whether an argument cannot be inspected. */
    boolean opaque() {
        return opaque;
    }

    /**
     * Returns whether an object is of a kind that contains arrays in known places only, or none.
     */
    static boolean understood(Object object) {
        return object == null
                || object instanceof NDArray
                || object instanceof NDManager
                || object instanceof NDArrayEx
                || object instanceof List<?>
                || object instanceof Object[]
                || object.getClass().isArray()
                || object instanceof Number
                || object instanceof Boolean
                || object instanceof Character
                || object instanceof CharSequence
                || object instanceof Enum<?>
                || object instanceof Shape
                || object instanceof Device
                || object instanceof Engine
                || object instanceof Buffer
                || object instanceof Charset
                || object instanceof Path
                || (object instanceof Optional<?> optional && optional.isEmpty());
    }

    /** Returns the arguments with stand-ins replaced by real objects. */
    Object[] realOf(Object[] arguments) {
        Object[] reals = new Object[arguments.length];
        for (int i = 0; i < reals.length; i++) {
            reals[i] = realOf(arguments[i]);
        }
        return reals;
    }

    private Object realOf(Object argument) {
        Object real = ArrayProxies.real(argument);
        if (real instanceof NDArray array) {
            arrays.add(array);
        } else if (real instanceof NDList list) {
            NDList reals = new NDList(list.size());
            list.forEach(element -> reals.add((NDArray) realOf(element)));
            return reals;
        } else if (real instanceof Object[] elements) {
            Object reals =
                    Array.newInstance(elements.getClass().getComponentType(), elements.length);
            for (int i = 0; i < elements.length; i++) {
                Array.set(reals, i, realOf(elements[i]));
            }
            return reals;
        } else if (real instanceof NDIndex index) {
            index.getIndices().replaceAll(this::realOf);
        } else if (real instanceof List<?> list) {
            List<Object> reals = new ArrayList<>(list.size());
            list.forEach(element -> reals.add(realOf(element)));
            return reals;
        } else if (!understood(real)) {
            opaque = true;
        }
        return real;
    }

    private NDIndexElement realOf(NDIndexElement element) {
        if (element instanceof NDIndexTake take) {
            return new NDIndexTake(real(take.getIndex()));
        }
        if (element instanceof NDIndexBooleans booleans) {
            return new NDIndexBooleans(real(booleans.getIndex()));
        }
        if (element instanceof NDIndexPick pick) {
            return new NDIndexPick(real(pick.getIndex()));
        }
        return element;
    }

    private NDArray real(NDArray array) {
        return (NDArray) realOf((Object) array);
    }
}
