package org.djlplan.memplan.spi;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.djlplan.memplan.graph.Graph;

/** A model of which an engine's delegate may take operators. */
public interface DelegableModel {

    /** Returns the model's file. */
    Path file();

    /** Returns the folder for what cannot be kept next to the model. */
    Path cacheFolder();

    /** Returns the graph, its operators in the order in which they run. */
    Graph graph();

    /** Returns the threads per prediction that the user asked for, −1 for the engine's default. */
    int threads();

    /** Returns the delegate's name as in {@code delegation.delegate}, for example xnnpack. */
    String delegate();

    /**
     * Returns whether the delegate is part of the engine, so that it may run in this process before
     * it was tried in another.
     */
    boolean trusted();

    /**
     * Returns whether the delegate can build its buffers for each prediction, see {@link
     * Candidate#transientBuffers}.
     */
    default boolean offersTransientBuffers() {
        return false;
    }

    /**
     * Returns what measurements depend on besides model, threads and CPU, by name: the engine, the
     * version of its native library, the delegate.
     */
    Map<String, String> facts();

    /**
     * Returns the partitions that the delegate reports when it may take everything it supports, as
     * {@link CandidateRunner#partitions()} does, but asked in this process. Nothing is run; only
     * for a {@link #trusted()} delegate, or one that runs here already.
     *
     * @throws CandidateException if the delegate cannot look at the model
     */
    List<Set<Integer>> partitions() throws CandidateException;

    /** Returns why no process can be started here; empty if nothing is known to be in the way. */
    Optional<String> obstacle();

    /** Returns an upper estimate of the memory that a process needs that runs candidates. */
    long neededBytes();

    /** The priority of a process that runs candidates, beside the application. */
    enum Urgency {
        /**
         * Others go first: it has the least priority, keeps to what a container's quota leaves, and
         * candidates are timed when nobody disturbs them.
         */
        IN_BACKGROUND,
        /** Somebody waits for it. */
        AWAITED
    }

    /**
     * Starts a process that runs candidates: never this one, which a crash would end, and which has
     * other things to do.
     *
     * @param tolerance by which outputs will be judged
     * @throws IOException if none can be started here
     */
    CandidateRunner newProcess(Urgency urgency, Tolerance tolerance) throws IOException;
}
