package org.djlplan.memplan.cli;

import com.google.common.collect.ImmutableMap;
import java.util.Map;

/**
 * One way to run a model in a process of its own.
 *
 * @param name what it is called in messages and tables
 * @param stock without a plan
 * @param environment what the process's environment says besides this one's
 */
record Contestant(String name, boolean stock, Map<String, String> environment) {

    /** DJL without this project. */
    static final Contestant STOCK = new Contestant("stock", true, Map.of());

    /** With a plan. */
    static final Contestant PLANNED = new Contestant("planned", false, Map.of());

    /** With a plan, to make and store it. */
    static final Contestant RECORDING = new Contestant("recording", false, Map.of());

    Contestant {
        environment = ImmutableMap.copyOf(environment);
    }
}
