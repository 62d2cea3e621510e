package org.djlplan.memplan.config;

import com.google.common.base.CaseFormat;

/** The options of memory planning. A key is {@code memplan.} and the name in camel case. */
public enum OptionKey {
    /** {@code false} leaves the model as DJL loaded it. Default true. */
    ENABLED,
    /** Name of a strategy, or {@code best}. Default best. */
    STRATEGY,
    /** When an operator may write over its input: true, false or auto. Default auto. */
    IN_PLACE,
    /** Whether operators run in an order that needs a smaller arena. Default false. */
    REORDER,
    /**
     * When smaller plans are searched: background, off, or a time such as 1s. Default background.
     */
    SEARCH,
    /** Whether the arena is shared with other models of this JVM. Default true. */
    SHARED_ARENA,
    /** How many arenas may be in use at once. Default: number of cores. */
    MAX_ARENAS,
    /** How long a prediction waits for an arena before it gets memory of its own. Default 10000. */
    ARENA_WAIT_MILLIS,
    /** How many predictions of one model may run at once. Default: number of cores. */
    MAX_INTERPRETERS,
    /** Threads of the engine per prediction; −1 is the engine's own default. Default −1. */
    THREADS,
    /**
     * How intermediates of imperative blocks are closed early: auto, op, tree, off. Default auto.
     */
    LIVENESS,
    /** Whether the first planned predictions are compared with stock ones. Default false. */
    VERIFY,
    /** Whether to record and plan while loading, with inputs of described shapes. Default false. */
    WARMUP,
    /** Shapes of the inputs for that, such as 1,3,224,224;1,128:int64. Default: as described. */
    INPUT_SHAPES,
    /** Whether arenas ask for huge pages. Default false. */
    HUGE_PAGES,
    /** Class name of the translator factory to wrap. Default: DJL's default for the types. */
    TRANSLATOR_FACTORY,
    /** Class name of the block factory to wrap. Default: the engine loads the model's file. */
    BLOCK_FACTORY;

    /** What every key of this module starts with. */
    public static final String PREFIX = "memplan.";

    private final String key =
            PREFIX + CaseFormat.UPPER_UNDERSCORE.to(CaseFormat.LOWER_CAMEL, name());

    /** Returns the key as users write it, for example {@code memplan.inPlace}. */
    public String key() {
        return key;
    }
}
