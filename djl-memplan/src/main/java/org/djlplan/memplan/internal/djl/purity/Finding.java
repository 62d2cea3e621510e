package org.djlplan.memplan.internal.djl.purity;

/**
 * A possible side effect of a forward pass.
 *
 * @param kind the consequence
 * @param className the class with the code
 * @param what the effect in plain words, following the class's name
 */
public record Finding(Kind kind, String className, String what) {

    /** The consequence of a finding. */
    public enum Kind {
        /** Values of arrays reach Java, and may thus affect the path of the pass. */
        LOOKS,
        /** The pass has a side effect, so it must not be run twice. */
        EFFECT,
        /**
         * The pass may do something else each time, may store arrays in unknown places, or can
         * distinguish stand-ins from real arrays; or its code is unknown.
         */
        OPAQUE
    }

    @Override
    public String toString() {
        return className + " " + what;
    }
}
