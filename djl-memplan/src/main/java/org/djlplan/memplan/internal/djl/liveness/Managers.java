package org.djlplan.memplan.internal.djl.liveness;

import ai.djl.ndarray.NDManager;

/** Determines the owner of an array from DJL's tree of managers. */
public final class Managers {

    private Managers() {}

    /**
     * Returns whether an array has the same owner after a pass, as far as its lifetime is
     * concerned: false if user code has attached it elsewhere, so that it lives on. Results may
     * move to the call's manager, or to the parent of a scope that has ended.
     *
     * @param created the array's manager when it was created
     * @param current its manager now
     * @param root the call's manager
     */
    static boolean keepsOwner(NDManager created, NDManager current, NDManager root) {
        return !isTop(current)
                && (current == root || current == created || movedToParentOf(created, current));
    }

    /**
     * Returns the same during a pass, when an operation may have moved the array to a temporary
     * scope.
     */
    static boolean keepsOwnerDuringPass(NDManager created, NDManager current, NDManager root) {
        return !isTop(current)
                && (within(current, root)
                        || within(current, created)
                        || movedToParentOf(created, current));
    }

    private static boolean movedToParentOf(NDManager scope, NDManager current) {
        return !scope.isOpen() && current == scope.getParentManager();
    }

    /** Detached arrays belong to the root of all managers, which closes nothing. */
    private static boolean isTop(NDManager manager) {
        return manager.getParentManager() == null;
    }

    /** Returns whether a manager is {@code ancestor} or a descendant of it. */
    public static boolean within(NDManager manager, NDManager ancestor) {
        NDManager current = manager;
        while (current != null && current != ancestor) {
            current = current.getParentManager();
        }
        return current == ancestor;
    }
}
