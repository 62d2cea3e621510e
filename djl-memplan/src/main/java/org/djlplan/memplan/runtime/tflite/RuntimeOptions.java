package org.djlplan.memplan.runtime.tflite;

import static com.google.common.base.Preconditions.checkArgument;

import java.time.Duration;
import org.djlplan.memplan.config.InPlace;
import org.djlplan.memplan.plan.portfolio.MemoryPlanner;

/**
 * How a model is planned and run.
 *
 * @param strategy name of the strategy, or {@code "best"}
 * @param inPlace when tensors may share places
 * @param threads number of threads of an interpreter, −1 for the engine's default
 * @param maxInterpreters how many predictions of this model may run at once
 * @param sharedArena whether arenas are shared with other models
 * @param maxArenas how many arenas may be in use at once
 * @param arenaWait how long a prediction waits for an arena before it gets memory of its own
 * @param idleAfter how long an interpreter that is not the model's last is kept without use
 */
public record RuntimeOptions(
        String strategy,
        InPlace inPlace,
        int threads,
        int maxInterpreters,
        boolean sharedArena,
        int maxArenas,
        Duration arenaWait,
        Duration idleAfter) {

    public RuntimeOptions {
        checkArgument(threads == -1 || threads > 0, "threads: %s", threads);
        checkArgument(maxInterpreters > 0, "maxInterpreters: %s", maxInterpreters);
        checkArgument(maxArenas > 0, "maxArenas: %s", maxArenas);
    }

    /** Returns the same with an arena that is not shared with other models. */
    RuntimeOptions withOwnArena() {
        return new RuntimeOptions(
                strategy,
                inPlace,
                threads,
                maxInterpreters,
                false,
                maxArenas,
                arenaWait,
                idleAfter);
    }

    /** Returns what plans by the strategies only, which takes no time to speak of. */
    public PlanFinder planAtOnce() {
        return request -> MemoryPlanner.plan(request.live(), strategy, inPlace);
    }

    /** Returns the defaults: best strategy, in-place, one interpreter and arena per core. */
    public static RuntimeOptions defaults() {
        int cores = Runtime.getRuntime().availableProcessors();
        return new RuntimeOptions(
                "best",
                InPlace.AUTO,
                -1,
                cores,
                true,
                cores,
                Duration.ofSeconds(10),
                Duration.ofSeconds(30));
    }
}
