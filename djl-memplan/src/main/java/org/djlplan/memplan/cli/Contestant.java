package org.djlplan.memplan.cli;

import com.google.common.collect.ImmutableMap;
import java.util.Map;

/**
 * One way to run a model in a process of its own.
 *
 * @param name what it is called in messages and tables
 * @param way how the model is run
 * @param environment what the process's environment says besides this one's
 */
record Contestant(String name, Way way, Map<String, String> environment) {

    /** With a plan, to make and store it. */
    static final Contestant RECORDING = new Contestant("recording", Way.PLANNED, Map.of());

    /** With delegation, to measure what to delegate and keep it. */
    static final Contestant MEASURING = new Contestant("measuring", Way.DELEGATED, Map.of());

    Contestant {
        environment = ImmutableMap.copyOf(environment);
    }

    static Contestant of(Way way) {
        return new Contestant(way.label(), way, Map.of());
    }
}
