package org.djlplan.memplan.internal.djl.purity;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.djlplan.memplan.internal.djl.purity.CodeReader.Lambda;
import org.djlplan.thirdparty.asm.Type;

/**
 * The objects that one method uses, by origin (see {@link Value}): the content of objects that the
 * method creates, and which of them are functions. Effects on other objects go to the method's
 * summary, for its callers.
 */
final class MethodObjects {

    /** A function object: its code, and its captured values. */
    record Function(Lambda lambda, List<Value> captured) {}

    private final CodeReader code;
    private final Summary summary;
    private final Map<Integer, BitSet> held = new HashMap<>();
    private final Map<Integer, Function> functions = new HashMap<>();

    /** Objects that contain functions which this method did not create. */
    private final Set<Integer> partlyUnknown = new HashSet<>();

    private boolean grown;

    MethodObjects(CodeReader code, Summary summary) {
        this.code = code;
        this.summary = summary;
    }

    void startOver() {
        grown = false;
    }

    /** Returns whether more content of objects is known than when the method was begun. */
    boolean grown() {
        return grown;
    }

    /** Returns the object that an instruction creates, with its content. */
    Value made(int index, Value content) {
        int site = Value.site(index);
        hold(site, content.origins());
        return Value.from(site);
    }

    private void hold(int site, BitSet origins) {
        BitSet before = held.computeIfAbsent(site, key -> new BitSet());
        int size = before.cardinality();
        before.or(origins);
        grown |= before.cardinality() != size;
    }

    /** Adds the content of an object, at all depths, as seen by callers. */
    void addHeld(int site, BitSet result) {
        BitSet inside = closure(read(Value.from(site)).origins());
        for (int origin = inside.nextSetBit(0);
                origin >= 0;
                origin = inside.nextSetBit(origin + 1)) {
            if (!Value.isSite(origin)) {
                result.set(origin);
            }
        }
    }

    /** Returns the content of a value. */
    Value read(Value value) {
        BitSet found = new BitSet();
        BitSet origins = value.origins();
        for (int origin = origins.nextSetBit(0);
                origin >= 0;
                origin = origins.nextSetBit(origin + 1)) {
            if (Value.isSite(origin)) {
                found.or(held.getOrDefault(origin, new BitSet()));
            } else if (Value.isArgument(origin)) {
                found.set(Value.inside(origin));
            } else {
                found.set(origin);
            }
        }
        return Value.of(found);
    }

    /** Returns values with all their content. */
    private BitSet closure(BitSet origins) {
        BitSet all = (BitSet) origins.clone();
        int size;
        do {
            size = all.cardinality();
            all.or(read(Value.of((BitSet) all.clone())).origins());
        } while (all.cardinality() != size);
        return all;
    }

    /** Returns the content of a value at all depths. */
    BitSet inside(Value value) {
        return closure(read(value).origins());
    }

    /** Records that an object is changed. */
    void change(Value value, Finding finding) {
        BitSet origins = value.origins();
        for (int origin = origins.nextSetBit(0);
                origin >= 0;
                origin = origins.nextSetBit(origin + 1)) {
            if (!Value.isSite(origin)) {
                summary.changes.putIfAbsent(origin, finding);
            }
        }
    }

    /** Records that an object is stored in another one. */
    void store(Value container, Value value) {
        if (value.origins().isEmpty()) {
            return;
        }
        escape(value);
        BitSet outer = new BitSet();
        BitSet all = closure(value.origins());
        for (int origin = all.nextSetBit(0); origin >= 0; origin = all.nextSetBit(origin + 1)) {
            if (!Value.isSite(origin)) {
                outer.set(origin);
            }
        }
        BitSet origins = container.origins();
        for (int origin = origins.nextSetBit(0);
                origin >= 0;
                origin = origins.nextSetBit(origin + 1)) {
            if (Value.isSite(origin)) {
                hold(origin, value.origins());
            } else if (Value.isArgument(origin)) {
                summary.store(origin, outer);
            }
        }
    }

    /** Records that the functions in a value may be called from elsewhere. */
    void escape(Value value) {
        BitSet all = closure(value.origins());
        for (int origin = all.nextSetBit(0); origin >= 0; origin = all.nextSetBit(origin + 1)) {
            Function function = functions.get(origin);
            if (function != null) {
                code.escaped(function.lambda());
            }
        }
    }

    /** Returns the function that an instruction creates, with its captured values. */
    Value function(int index, Lambda lambda, List<Value> captured) {
        functions.put(Value.site(index), new Function(lambda, captured));
        BitSet origins = new BitSet();
        captured.forEach(operand -> origins.or(operand.origins()));
        return made(index, Value.of(origins));
    }

    /** Removes the functions from a set of origins. */
    void withoutFunctions(BitSet origins) {
        functions.keySet().forEach(origins::clear);
    }

    /** Records that the object of an instruction contains functions from elsewhere. */
    void holdsUnknownFunctions(int index) {
        grown |= partlyUnknown.add(Value.site(index));
    }

    /** Returns whether this method created all functions that a value may be, or contain. */
    boolean knowsFunctions(Value value) {
        boolean known = !value.origins().isEmpty();
        BitSet origins = value.origins();
        for (int origin = origins.nextSetBit(0);
                origin >= 0;
                origin = origins.nextSetBit(origin + 1)) {
            known &= Value.isSite(origin) && !partlyUnknown.contains(origin);
        }
        return known;
    }

    /** Returns the functions that a value may be, or contain. */
    List<Function> functionsIn(Value value, Class<?> type) {
        List<Function> found = new ArrayList<>();
        boolean known = knowsFunctions(value);
        BitSet all = closure(value.origins());
        for (int origin = all.nextSetBit(0); origin >= 0; origin = all.nextSetBit(origin + 1)) {
            if (functions.containsKey(origin)) {
                found.add(functions.get(origin));
            }
        }
        if (!known || found.isEmpty()) {
            for (Lambda lambda : code.functions(type, value.field())) {
                List<Value> captured = new ArrayList<>();
                for (Type each : lambda.captured()) {
                    String field = "arg$" + (captured.size() + 1);
                    captured.add(
                            CodeReader.isReference(each)
                                    ? Value.shared()
                                            .readFrom(
                                                    CodeReader.field(
                                                            lambda.host().getName(), field))
                                    : Value.plain(each.getSize()));
                }
                found.add(new Function(lambda, captured));
            }
        }
        return found;
    }
}
