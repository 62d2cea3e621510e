package org.djlplan.memplan.djl.liveness;

import ai.djl.ndarray.NDArray;

/** Is told of the arrays that come into being on one thread. */
interface CreationListener {

    /** An engine finished creating an array; called by its constructor, so must not throw. */
    void created(NDArray array);

    /** User code asked the scope to leave an array alone. */
    void unregistered(NDArray array);
}
