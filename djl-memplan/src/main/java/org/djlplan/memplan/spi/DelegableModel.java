package org.djlplan.memplan.spi;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.graph.Graph;

/**
 * A model with more than one way to run it: by recipes, or with operators in an engine's delegate.
 */
public interface DelegableModel {

    /**
     * The name of the fact in {@link #facts} that only a model measured at other shapes than those
     * in its file has.
     */
    String SHAPES = "shapes";

    /** Returns the model's file. */
    Path file();

    /**
     * Returns the identity of the file that was loaded: the file system's data about it, as {@link
     * org.djlplan.memplan.internal.store.FileIdentity} as text. Another file may have its name
     * since.
     */
    String identity();

    /** Returns the folder for files that cannot be stored next to the model. */
    Path cacheFolder();

    /**
     * Returns the graph, with operators in execution order; for a model with {@link #recipes} a
     * graph without operators is sufficient, and its outputs may be unknown.
     */
    Graph graph();

    /**
     * Returns the names of the recipes to try besides stock, the simplest first. All of them are
     * measured, as {@link Candidate#ofRecipe}. If there are none, sets of operators are searched.
     */
    default List<String> recipes() {
        return List.of();
    }

    /**
     * Returns the names of the lower {@linkplain Precision precisions} in which the model can run;
     * each is also the name of a recipe, which is measured only if the user permits it.
     */
    default List<String> precisions() {
        return List.of();
    }

    /** Returns the threads per prediction that the user requested, −1 for the engine's default. */
    int threads();

    /**
     * Returns the delegate's name as in {@code delegation.delegate}, for example xnnpack; for a
     * model with {@link #recipes} the name of the engine.
     */
    String delegate();

    /**
     * Returns whether the delegate can build its buffers for each prediction, see {@link
     * Candidate#transientBuffers}.
     */
    default boolean offersTransientBuffers() {
        return false;
    }

    /**
     * Returns the facts besides model, threads and CPU that measurements depend on, by name: the
     * engine, the version of its native library, the delegate, and {@link #SHAPES}.
     */
    Map<String, String> facts();

    /** Returns why no process can be started here; empty if no obstacle is known. */
    Optional<String> obstacle();

    /** Returns an upper estimate of the memory of a process that runs candidates. */
    long neededBytes();

    /** The priority of a process that runs candidates, relative to the application. */
    enum Urgency {
        /**
         * The application goes first: the process has the lowest priority, uses only what a
         * container's quota leaves, and times candidates when no other work disturbs them.
         */
        IN_BACKGROUND,
        /** Somebody waits for it. */
        AWAITED
    }

    /**
     * Starts a process that runs candidates. They never run in this process, because a crash would
     * end it, and because it serves the application.
     *
     * @param tolerance for the outputs
     * @throws IOException if no process can be started here
     */
    CandidateRunner newProcess(Urgency urgency, Tolerance tolerance) throws IOException;
}
