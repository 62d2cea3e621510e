package org.djlplan.memplan.internal.djl.purity;

import java.util.Optional;

/**
 * The stated effects of a method of the JDK or of DJL's arrays; the method's code is not analyzed.
 * The method's first operand is the object on which it is called or, for a static method, the first
 * argument.
 *
 * @param effect the effect on the operands and the result
 * @param finding a further effect, reported as a finding about the calling class
 */
record Fact(Effect effect, Optional<Finding> finding) {

    /** The effect of a method on its operands and its result. */
    enum Effect {
        /** Changes nothing; returns an object without relevant content. */
        VALUE,
        /** As {@link #VALUE}, but brings values of arrays to Java. */
        LOOKS,
        /** Changes nothing; returns a list of objects without relevant content. */
        LIST,
        /** Changes nothing; returns a list of the first operand, or of a new object. */
        LIST_OF_FIRST,
        /** Changes nothing; returns content of the first operand. */
        READS,
        /** Changes nothing; returns an operand, or a view of it. */
        SAME,
        /** Changes nothing; returns a new object that contains the operands and their content. */
        FRESH,
        /**
         * Changes nothing; returns a new object that contains the first operand and its content.
         */
        WINDOW,
        /** As {@link #FRESH}, and depends on values of arrays. */
        FRESH_LOOKS,
        /** Returns a new object that contains the results of the functions passed to it. */
        MAPS,
        /** Returns an object that existed before. */
        FOUND,
        /**
         * Changes the first operand, which contains the others from then on; returns content of it.
         */
        CHANGES,
        /** As {@link #CHANGES}, and changes the content of the first operand. */
        CHANGES_THROUGH,
        /** Changes the content of the first operand. */
        CHANGES_HELD,
        /** Changes the second operand, which has no content. */
        CHANGES_SECOND,
        /** Changes the third operand, which then has the content of the first one. */
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
