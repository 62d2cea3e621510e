package org.djlplan.memplan.config;

import static com.google.common.base.Preconditions.checkArgument;

import java.time.Duration;
import java.util.OptionalInt;

/**
 * The arenas of one model.
 *
 * @param shared whether they are shared with other models
 * @param most how many may be in use at once; empty for the engine's default
 * @param longestWait how long a prediction may wait for one
 * @param hugePages whether they ask for huge pages
 * @param workspacesShared whether a delegate's workspaces are shared with other models
 */
public record ArenaOptions(
        boolean shared,
        OptionalInt most,
        Duration longestWait,
        boolean hugePages,
        boolean workspacesShared) {

    public ArenaOptions {
        checkArgument(most.orElse(1) > 0, "at most %s arenas", most);
    }
}
