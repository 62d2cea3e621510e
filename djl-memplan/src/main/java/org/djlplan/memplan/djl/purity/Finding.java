package org.djlplan.memplan.djl.purity;

/**
 * A possible side effect of a forward pass.
 *
 * @param kind what follows from it
 * @param className the class whose code does it
 * @param what in plain words, to be read after the class's name
 */
public record Finding(Kind kind, String className, String what) {

    /** The consequence of a finding. */
    public enum Kind {
        /** The values of arrays reach Java, and so may decide what is done. */
        LOOKS,
        /** The pass leaves something behind, so that it must not be run twice. */
        EFFECT,
        /**
         * The pass may do something else each time, may keep arrays where nobody finds them, or can
         * tell stand-ins from real arrays; or its code is not known.
         */
        OPAQUE
    }

    @Override
    public String toString() {
        return className + " " + what;
    }
}
