package org.djlplan.memplan.internal.plan;

import java.util.List;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** A rule that a plan breaks, and the tensors that break it. */
public interface Violation {

    /** Returns the broken rule's name, in kebab case. */
    String rule();

    /** Returns the ids of the one or two tensors that break it. */
    List<Integer> tensors();

    /**
     * Describes the violation in one sentence.
     *
     * @param names of {@link #tensors()}, in the same order
     */
    String describe(List<String> names);

    /** Two tensors that do not share a place are alive at once and overlap in memory. */
    record Overlap(int tensor, int other) implements Violation {
        @Override
        public String rule() {
            return "overlap";
        }

        @Override
        public List<Integer> tensors() {
            return ImmutableList.of(tensor, other);
        }

        @Override
        public String describe(List<String> names) {
            return names.get(0) + " and " + names.get(1) + " overlap in time and space";
        }
    }

    /**
     * Two tensors that do not share a place overlap in memory; their intervals do not overlap, but
     * the problem says that they may be alive at once.
     */
    record ConflictOverlap(int tensor, int other) implements Violation {
        @Override
        public String rule() {
            return "conflict-overlap";
        }

        @Override
        public List<Integer> tensors() {
            return ImmutableList.of(tensor, other);
        }

        @Override
        public String describe(List<String> names) {
            return names.get(0)
                    + " and "
                    + names.get(1)
                    + " overlap in space and may be alive at once in another order";
        }
    }

    /** A tensor lies before the arena's start. */
    record NegativeOffset(int tensor, long offsetBytes) implements Violation {
        @Override
        public String rule() {
            return "negative-offset";
        }

        @Override
        public List<Integer> tensors() {
            return ImmutableList.of(tensor);
        }

        @Override
        public String describe(List<String> names) {
            return names.get(0) + " has the negative offset " + offsetBytes;
        }
    }

    /** A tensor's offset is not a multiple of the alignment. */
    record MisalignedOffset(int tensor, long offsetBytes, long alignmentBytes)
            implements Violation {
        @Override
        public String rule() {
            return "misaligned-offset";
        }

        @Override
        public List<Integer> tensors() {
            return ImmutableList.of(tensor);
        }

        @Override
        public String describe(List<String> names) {
            return names.get(0)
                    + " has the offset "
                    + offsetBytes
                    + ", no multiple of "
                    + alignmentBytes;
        }
    }

    /** A tensor ends after the claimed end of the arena. */
    record OutsideArena(int tensor, long endBytes, long arenaBytes) implements Violation {
        @Override
        public String rule() {
            return "outside-arena";
        }

        @Override
        public List<Integer> tensors() {
            return ImmutableList.of(tensor);
        }

        @Override
        public String describe(List<String> names) {
            return names.get(0) + " ends at " + endBytes + " in an arena of " + arenaBytes;
        }
    }

    /** A tensor has no offset. */
    record NoOffset(int tensor) implements Violation {
        @Override
        public String rule() {
            return "no-offset";
        }

        @Override
        public List<Integer> tensors() {
            return ImmutableList.of(tensor);
        }

        @Override
        public String describe(List<String> names) {
            return names.get(0) + " has no offset";
        }
    }

    /** Two tensors of one alias class lie at different places. */
    record AliasApart(int tensor, int other) implements Violation {
        @Override
        public String rule() {
            return "alias-apart";
        }

        @Override
        public List<Integer> tensors() {
            return ImmutableList.of(tensor, other);
        }

        @Override
        public String describe(List<String> names) {
            return names.get(0) + " is to share the place of " + names.get(1) + " but does not";
        }
    }
}
