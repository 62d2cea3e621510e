package org.djlplan.memplan.internal.runtime;

import java.util.ArrayList;
import java.util.List;

/** Counts the uses of resources, and closes these after the last one. Thread-safe. */
public final class Uses {

    private final List<Runnable> waiting = new ArrayList<>();
    private int running;
    private boolean closed;

    /** Begins a use; returns false, and begins none, if the resources are closed. */
    public synchronized boolean begin() {
        if (!closed) {
            running++;
        }
        return !closed;
    }

    /** Ends a use. */
    public void end() {
        List<Runnable> last = List.of();
        synchronized (this) {
            running--;
            if (running == 0) {
                last = List.copyOf(waiting);
                waiting.clear();
            }
        }
        last.forEach(Runnable::run);
    }

    /** Lets no other use begin, and closes a resource when none runs: now, or in {@link #end}. */
    public void close(Runnable resource) {
        synchronized (this) {
            closed = true;
            if (running > 0) {
                waiting.add(resource);
                return;
            }
        }
        resource.run();
    }
}
