package org.djlplan.memplan.internal.djl.purity;

import java.util.BitSet;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * An abstract value on the stack or in a local variable: the possible origins of the object, or the
 * value of a number. Immutable.
 *
 * <p>Origins are bits: {@link #SHARED} for objects that existed before the method was called and
 * were not passed to it; three per argument, for the object itself, for its content, and for deeper
 * content; and one per instruction that creates objects. A value without origins was created by
 * this pass and contains nothing relevant, such as the result of an operation on arrays.
 *
 * @param size the number of the virtual machine's stack slots that the value takes
 * @param origins the possible origins; must not be modified
 * @param constant the numeric value, if known
 * @param field the field from which the value was read, if known
 */
record Value(int size, BitSet origins, OptionalInt constant, Optional<String> field)
        implements org.djlplan.thirdparty.asm.tree.analysis.Value {

    static final int SHARED = 0;
    private static final int FIRST_ARGUMENT = 1;
    private static final int LEVELS = 3;
    private static final int MOST_ARGUMENTS = 20;
    private static final int FIRST_SITE = FIRST_ARGUMENT + LEVELS * MOST_ARGUMENTS;

    private static final BitSet NOTHING = new BitSet();

    /** A value of one slot without relevant content. */
    static final Value PLAIN = new Value(1, NOTHING, OptionalInt.empty(), Optional.empty());

    /** The same of two slots. */
    static final Value WIDE = new Value(2, NOTHING, OptionalInt.empty(), Optional.empty());

    @Override
    public int getSize() {
        return size;
    }

    static Value plain(int size) {
        return size == 2 ? WIDE : PLAIN;
    }

    static Value number(int constant) {
        return new Value(1, NOTHING, OptionalInt.of(constant), Optional.empty());
    }

    static Value of(BitSet origins) {
        return origins.isEmpty()
                ? PLAIN
                : new Value(1, origins, OptionalInt.empty(), Optional.empty());
    }

    /** Returns the same value with the field that it was read from. */
    Value readFrom(String name) {
        return new Value(size, origins, constant, Optional.of(name));
    }

    static Value from(int origin) {
        BitSet origins = new BitSet();
        origins.set(origin);
        return of(origins);
    }

    static Value shared() {
        return from(SHARED);
    }

    /** Returns the bit of the argument with this number; shared beyond a limit. */
    static int argument(int number) {
        if (number >= MOST_ARGUMENTS) {
            return SHARED;
        }
        return FIRST_ARGUMENT + LEVELS * number;
    }

    /** Returns the bit of the content of an argument, or of the content of content. */
    static int inside(int origin) {
        return level(origin) == LEVELS - 1 ? origin : origin + 1;
    }

    /** Returns the depth inside an argument; the last level includes everything deeper. */
    static int level(int origin) {
        return (origin - FIRST_ARGUMENT) % LEVELS;
    }

    /** Returns the bit of the object that the instruction at an index creates. */
    static int site(int index) {
        return FIRST_SITE + index;
    }

    static boolean isSite(int origin) {
        return origin >= FIRST_SITE;
    }

    static boolean isArgument(int origin) {
        return origin >= FIRST_ARGUMENT && !isSite(origin);
    }

    static int argumentNumber(int origin) {
        return (origin - FIRST_ARGUMENT) / LEVELS;
    }

    Value or(Value other) {
        if (equals(other)) {
            return this;
        }
        BitSet all = (BitSet) origins.clone();
        all.or(other.origins);
        return new Value(
                Math.min(size, other.size),
                all,
                constant.equals(other.constant) ? constant : OptionalInt.empty(),
                field.equals(other.field) ? field : Optional.empty());
    }
}
