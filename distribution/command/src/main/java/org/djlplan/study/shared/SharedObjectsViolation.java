package org.djlplan.study.shared;

import java.util.List;
import org.djlplan.memplan.internal.plan.Violation;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** A rule of shared objects that a plan breaks, and the tensors that break it. */
public sealed interface SharedObjectsViolation extends Violation {

    /** A tensor has no shared object. */
    record NoObject(int tensor) implements SharedObjectsViolation {
        @Override
        public String rule() {
            return "no-object";
        }

        @Override
        public List<Integer> tensors() {
            return ImmutableList.of(tensor);
        }

        @Override
        public String describe(List<String> names) {
            return names.get(0) + " has no object";
        }
    }

    /** A tensor's object is not among the plan's objects. */
    record UnknownObject(int tensor, int object, int objects) implements SharedObjectsViolation {
        @Override
        public String rule() {
            return "unknown-object";
        }

        @Override
        public List<Integer> tensors() {
            return ImmutableList.of(tensor);
        }

        @Override
        public String describe(List<String> names) {
            return names.get(0) + " has object number " + object + " of " + objects;
        }
    }

    /** A tensor is larger than its object. */
    record ObjectTooSmall(int tensor, long tensorBytes, long objectBytes)
            implements SharedObjectsViolation {
        @Override
        public String rule() {
            return "object-too-small";
        }

        @Override
        public List<Integer> tensors() {
            return ImmutableList.of(tensor);
        }

        @Override
        public String describe(List<String> names) {
            return names.get(0) + " has " + tensorBytes + " bytes in an object of " + objectBytes;
        }
    }

    /** Two tensors that do not share a place are alive at once in one object. */
    record ObjectInUse(int tensor, int other) implements SharedObjectsViolation {
        @Override
        public String rule() {
            return "object-in-use";
        }

        @Override
        public List<Integer> tensors() {
            return ImmutableList.of(tensor, other);
        }

        @Override
        public String describe(List<String> names) {
            return names.get(0) + " and " + names.get(1) + " are alive at once in one object";
        }
    }
}
