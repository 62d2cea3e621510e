package org.djlplan.memplan.spi;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.djlplan.memplan.graph.Graph;

/** A model of which an engine's delegate may take operators. */
public interface DelegableModel {

    /** Returns the model's file. */
    Path file();

    /** Returns the folder for what cannot be kept next to the model. */
    Path cacheFolder();

    /** Returns the graph as the file has it. */
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
     * Returns what measurements depend on besides model, threads and CPU, by name: the engine, the
     * version of its native library, the delegate.
     */
    Map<String, String> facts();

    /**
     * Starts a process that runs candidates, so that a crash ends that process and not this one.
     *
     * @throws IOException if none can be started here
     */
    CandidateRunner newProcess() throws IOException;

    /** Returns a runner in this process. */
    CandidateRunner inThisProcess();
}
