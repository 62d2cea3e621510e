package org.djlplan.memplan.runtime.tflite;

import com.google.common.collect.ImmutableList;
import java.util.List;
import java.util.Optional;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.NativeDelegate;

/**
 * A session with what it delegates.
 *
 * @param session the interpreter
 * @param delegate its delegate, freed after it
 * @param candidate what was asked for
 * @param nodes the nodes that it executes
 */
record DelegatedSession(
        EngineSession session,
        Optional<NativeDelegate> delegate,
        Candidate candidate,
        List<LiveNode> nodes)
        implements AutoCloseable {

    DelegatedSession {
        nodes = ImmutableList.copyOf(nodes);
    }

    /** Returns how many operators the delegate took. */
    int delegatedOperators() {
        return nodes.stream().mapToInt(node -> node.replaced().size()).sum();
    }

    /** Returns how many delegate kernels they became. */
    int partitions() {
        return (int) nodes.stream().filter(LiveNode::delegated).count();
    }

    @Override
    public void close() {
        try {
            session.close();
        } finally {
            delegate.ifPresent(NativeDelegate::close);
        }
    }
}
