package org.djlplan.memplan.djl.purity;

import java.util.Optional;

/**
 * The stated effects of a method of the JDK or of DJL's arrays, whose code is not analyzed. Its
 * first operand is the object on which it is called or, for a static method, the first argument.
 *
 * @param effect what it does to its operands, and what it returns
 * @param finding what else it does, said of the class that calls it
 */
record Fact(Effect effect, Optional<Finding> finding) {

    /** The effect of a method on its operands and its result. */
    enum Effect {
        /** Changes nothing; returns something that holds nothing of interest. */
        VALUE,
        /** As {@link #VALUE}, but brings values of arrays to Java. */
        LOOKS,
        /** Changes nothing; returns a list of something that holds nothing of interest. */
        LIST,
        /** Changes nothing; returns a list of the first operand, or of something as new. */
        LIST_OF_FIRST,
        /** Changes nothing; returns what the first operand holds. */
        READS,
        /** Changes nothing; returns an operand, or a view of it. */
        SAME,
        /** Changes nothing; returns something new that holds the operands and what they hold. */
        FRESH,
        /** As {@link #FRESH}, and depends on values of arrays. */
        FRESH_LOOKS,
        /** Returns something new that holds what the functions returned that it was handed. */
        MAPS,
        /** Returns something that was there before. */
        FOUND,
        /** Changes the first operand, which holds the others from then on; returns of it. */
        CHANGES,
        /** Changes what the first operand holds. */
        CHANGES_HELD,
        /** Changes the second operand, which holds nothing. */
        CHANGES_SECOND,
        /** Changes the third operand, which then holds what the first one does. */
        COPIES_TO_THIRD
    }

    static Fact of(Effect effect) {
        return new Fact(effect, Optional.empty());
    }

    static Fact effect(String what) {
        return new Fact(Effect.FOUND, Optional.of(new Finding(Finding.Kind.EFFECT, "", what)));
    }

    static Fact opaque(String what) {
        return new Fact(Effect.FOUND, Optional.of(new Finding(Finding.Kind.OPAQUE, "", what)));
    }
}
