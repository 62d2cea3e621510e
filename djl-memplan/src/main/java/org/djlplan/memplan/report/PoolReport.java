package org.djlplan.memplan.report;

/** The resources that all planned models of a process share, at one moment. */
public interface PoolReport {

    /** Returns the arenas for intermediate tensors. */
    Arenas arenas();

    /** Returns the workspaces of delegate kernels. */
    Workspaces workspaces();

    /** Returns the bytes of weights that XNNPACK packed once for all interpreters of a model. */
    long packedWeightsBytes();

    /** Returns the workers that run forward passes. */
    Workers workers();

    /** Returns all waits of predictions, since the start. */
    Waits waits();

    /**
     * Returns the waits with a cause, since the start.
     *
     * @since 0.3
     */
    Waits waits(Cause cause);

    /**
     * The resource for which a prediction waited. A later version may add causes.
     *
     * @since 0.3
     */
    enum Cause {
        /** Threads of {@code memplan.workers}. */
        WORKERS,
        /** Interpreters of a model. */
        INTERPRETERS,
        /** The arena of a model with a budget: one prediction at a time. */
        ARENAS,
        /** Processors, for a multi-threaded prediction. */
        PROCESSORS,
        /** Places of {@code memplan.maxPredictions}. */
        PREDICTIONS
    }

    /** Arenas that models share. */
    interface Arenas {

        /** Returns the number of arenas. */
        int count();

        /** Returns their total size in bytes. */
        long bytes();

        /** Returns the number of arenas that predictions use. */
        int inUse();
    }

    /** Workspaces of delegate kernels that lie on shared pages. */
    interface Workspaces {

        /** Returns the number of workspaces. */
        int count();

        /** Returns their size in bytes if each had its own pages. */
        long separateBytes();

        /** Returns their actual size in bytes. */
        long bytes();
    }

    /** Forward passes that {@code memplan.workers} limits. */
    interface Workers {

        /** Returns the number of running passes, on workers or on their callers' threads. */
        int busy();

        /** Returns the number of passes that wait for a worker. */
        int waiting();
    }

    /** Waits of predictions for a resource that others use. */
    interface Waits {

        /** Returns the number of waits. */
        long count();

        /** Returns their total duration in nanoseconds. */
        long nanos();
    }
}
