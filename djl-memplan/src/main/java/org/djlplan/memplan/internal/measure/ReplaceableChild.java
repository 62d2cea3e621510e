package org.djlplan.memplan.internal.measure;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkState;

import java.io.IOException;
import java.util.Optional;
import org.djlplan.memplan.internal.measure.MeasuringChild.Limits;
import org.djlplan.memplan.spi.DelegableModel.Urgency;

/**
 * A measuring process that is replaced by another one if it ends, until too many have ended. One
 * thread may use it while another one closes it.
 */
final class ReplaceableChild implements AutoCloseable {

    private final ModelRequest model;
    private final MeasuringJvm jvm;
    private final Limits limits;
    private final Urgency urgency;

    /** Guarded by this. */
    private int starts;

    /** Guarded by this. */
    private Optional<MeasuringChild> child = Optional.empty();

    /** Guarded by this. */
    private boolean closed;

    ReplaceableChild(ModelRequest model, MeasuringJvm jvm, Limits limits, Urgency urgency) {
        this.model = model;
        this.jvm = jvm;
        this.limits = limits;
        this.urgency = urgency;
    }

    /**
     * Returns the current process, or a new one that has opened the model.
     *
     * @throws IOException if no process can be started, it cannot open the model, or too many have
     *     ended
     * @throws IllegalStateException if this is closed, or is closed meanwhile
     */
    MeasuringChild get() throws IOException, InterruptedException {
        MeasuringChild started;
        synchronized (this) {
            requireOpen();
            if (child.isPresent()) {
                return child.get();
            }
            if (isExhausted()) {
                throw new IOException("%d processes died: no more is started".formatted(starts));
            }
            starts++;
            started = MeasuringChild.start(jvm, model, urgency);
            child = Optional.of(started);
        }
        try {
            started.open(model, limits, urgency);
            return started;
        } catch (InterruptedException e) {
            end();
            throw e;
        } catch (IOException | RuntimeException e) {
            end();
            // A process that ends because this was closed did not fail.
            requireOpen();
            throw e;
        }
    }

    /** Ends the current process, if there is one; the next {@link #get} starts another one. */
    void end() {
        Optional<MeasuringChild> dead;
        synchronized (this) {
            dead = child;
            child = Optional.empty();
        }
        dead.ifPresent(MeasuringChild::close);
    }

    /** Ends the current process, and starts no more. A second call does nothing. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
        }
        end();
    }

    /** Returns the id of the current process, if there is one. */
    synchronized Optional<Long> pid() {
        return child.map(MeasuringChild::pid);
    }

    /** Returns whether so many processes have ended that no more is started. */
    synchronized boolean isExhausted() {
        return starts > limits.restarts();
    }

    synchronized boolean isClosed() {
        return closed;
    }

    /**
     * @throws IllegalStateException if this is closed
     */
    void requireOpen() {
        checkState(!isClosed(), "closed");
    }
}
