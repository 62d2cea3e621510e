package org.djlplan.integration.spark;

import java.io.Serializable;
import java.util.Objects;

/**
 * A row and the process, task and choice that computed it.
 *
 * @param seed the seed of the row's image
 * @param bits hash of all bits of the outputs
 * @param process the executor's process
 * @param attempt number of the task's attempt, from 0
 * @param choice the delegation, and its origin
 */
record Examined(int seed, int bits, long process, int attempt, String choice)
        implements Serializable {

    Examined {
        Objects.requireNonNull(choice);
    }
}
