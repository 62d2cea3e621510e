package org.djlplan.memplan.plan;

/** A rule that a plan breaks, and the tensors that break it. */
public sealed interface Violation {

    /** Returns the broken rule's name, in kebab case. */
    String rule();

    /** Two tensors that do not share a place are alive at once and have bytes in common. */
    record Overlap(int tensor, int other) implements Violation {
        @Override
        public String rule() {
            return "overlap";
        }
    }

    /** A tensor lies before the arena's start. */
    record NegativeOffset(int tensor, long offsetBytes) implements Violation {
        @Override
        public String rule() {
            return "negative-offset";
        }
    }

    /** A tensor's offset is no multiple of the alignment. */
    record MisalignedOffset(int tensor, long offsetBytes, long alignmentBytes)
            implements Violation {
        @Override
        public String rule() {
            return "misaligned-offset";
        }
    }

    /** A tensor ends after the end of the arena as claimed. */
    record OutsideArena(int tensor, long endBytes, long arenaBytes) implements Violation {
        @Override
        public String rule() {
            return "outside-arena";
        }
    }

    /** A tensor has no offset. */
    record NoOffset(int tensor) implements Violation {
        @Override
        public String rule() {
            return "no-offset";
        }
    }

    /** Two tensors of one alias class lie at different places. */
    record AliasApart(int tensor, int other) implements Violation {
        @Override
        public String rule() {
            return "alias-apart";
        }
    }
}
