package org.djlplan.memplan.djl.liveness;

import ai.djl.ndarray.NDManager;

/** Questions to the tree of managers. */
final class Managers {

    private Managers() {}

    /**
     * Returns whether a manager is {@code ancestor} or one below it. What is attached to any other
     * manager outlives the call in DJL, so it is nothing to close early.
     */
    static boolean within(NDManager manager, NDManager ancestor) {
        NDManager current = manager;
        while (current != null && current != ancestor) {
            current = current.getParentManager();
        }
        return current == ancestor;
    }
}
