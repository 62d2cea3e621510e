package org.djlplan.memplan.internal.serving;

import java.util.Optional;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.spi.DelegateFactory;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.Tolerance;

/** The delegation of one model in service, which chooses the operators that a delegate runs. */
public interface ServedDelegation extends AutoCloseable {

    /** Returns the name of the delegate. */
    String name();

    /** Returns the engine's name and the version of its native library. */
    String engine();

    /** Returns the factory of each interpreter's delegate. */
    DelegateFactory delegates();

    /**
     * Returns the initial choice. Called once the model is read.
     *
     * @param identity of the open file, see {@link
     *     org.djlplan.memplan.internal.runtime.tflite.OpenModel#identity}
     */
    DelegationChoice first(Graph graph, String identity);

    /** Returns whether workspaces share their pages with those of other models. */
    default boolean sharesWorkspaces() {
        return true;
    }

    /**
     * Returns whether predictions with other shapes than those in the file are expected and
     * delegated. Called after {@link #first}.
     */
    default boolean expectsOtherShapes() {
        return false;
    }

    /**
     * Returns the tolerance for comparing the outputs of the first requests with the CPU kernels';
     * empty if they are not compared.
     */
    default Optional<Tolerance> requestTolerance() {
        return Optional.empty();
    }

    /** Stores that nothing is to be delegated, because outputs of a request differ. */
    default void withdraw(String why) {}

    /** Passes later choices on to a serving model. */
    default void attach(ServedModel model) {}

    /** Returns whether no other choice will follow. */
    default boolean isSettled() {
        return true;
    }

    /** Cancels background work. */
    @Override
    default void close() {}
}
