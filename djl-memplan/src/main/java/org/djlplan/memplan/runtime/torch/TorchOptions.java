package org.djlplan.memplan.runtime.torch;

import static com.google.common.base.Preconditions.checkArgument;

import java.time.Duration;
import org.djlplan.memplan.config.SearchMode;

/**
 * How a model's memory is planned and kept.
 *
 * @param strategy name of a strategy, or {@code best}
 * @param search when a plan above its lower bound is searched for a smaller one
 * @param sharedArena whether arenas are shared with other models
 * @param maxArenas how many arenas may be in use at once
 * @param arenaWait how long a prediction may wait for one
 * @param hugePages whether arenas ask for huge pages
 */
public record TorchOptions(
        String strategy,
        SearchMode search,
        boolean sharedArena,
        int maxArenas,
        Duration arenaWait,
        boolean hugePages) {

    public TorchOptions {
        checkArgument(maxArenas > 0, "maxArenas: %s", maxArenas);
    }
}
