package org.djlplan.memplan.internal.djl;

import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.internal.measure.TfLiteDelegableModel;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.internal.serving.ShapeChooser;
import org.djlplan.memplan.internal.thread.DaemonThreads;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.DelegationProvider;
import org.djlplan.memplan.spi.ShapeMix;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The delegation of one model at other shapes than those in its file: has a provider choose for the
 * mix of shapes that was requested last.
 */
final class DelegationAtShapes implements ShapeChooser, AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(DelegationAtShapes.class);

    private final DelegationProvider provider;
    private final Map<String, String> options;
    private final TfLiteDelegableModel model;
    private final ServedModel served;

    // Guarded by this.
    private Optional<Request> latest = Optional.empty();
    private boolean closed;

    /** A mix of shapes for which a provider chooses. Guarded by the delegation. */
    private static final class Request {
        private final ShapeMix mix;

        /** Empty until the provider has begun, and its first choice serves if it is verified. */
        private Optional<DelegationProvider.Choosing> choosing = Optional.empty();

        /** Whether the model has a verified choice, or the provider has none. */
        private boolean answered;

        private Request(ShapeMix mix) {
            this.mix = mix;
        }
    }

    /**
     * @param options of the delegation
     * @param model is measured
     * @param served receives the choices
     */
    DelegationAtShapes(
            DelegationProvider provider,
            Map<String, String> options,
            TfLiteDelegableModel model,
            ServedModel served) {
        this.provider = provider;
        this.options = options;
        this.model = model;
        this.served = served;
    }

    @Override
    public void request(ShapeMix mix) {
        Request request = new Request(mix);
        Optional<Request> before;
        synchronized (this) {
            before = latest;
            latest = Optional.of(request);
        }
        try {
            // It may take long, as an interpreter is built if there is a result already.
            DaemonThreads.make(() -> choose(request, before), "djl-plan-other-shapes").start();
        } catch (OutOfMemoryError e) {
            logger.debug("no thread is to be had", e);
            end(request);
        }
    }

    private void choose(Request request, Optional<Request> before) {
        try {
            before.ifPresent(this::cancel);
            TfLiteDelegableModel atShapes = model.at(request.mix);
            Optional<DelegationProvider.Choosing> started =
                    provider.chooseAtShapes(
                            atShapes, options, choice -> use(request, atShapes.served(choice)));
            if (started.isEmpty()) {
                end(request);
                return;
            }
            use(request, atShapes.served(started.get().first()));
            if (!begin(request, started.get())) {
                started.get().close();
            }
        } catch (RuntimeException | Error e) {
            logger.warn("{} is not measured at other shapes", model.file(), e);
            end(request);
        }
    }

    private void cancel(Request request) {
        Optional<DelegationProvider.Choosing> choosing;
        synchronized (this) {
            choosing = request.choosing;
        }
        choosing.ifPresent(DelegationProvider.Choosing::close);
    }

    /** Notes that the provider has begun, unless the request was superseded meanwhile. */
    private synchronized boolean begin(Request request, DelegationProvider.Choosing choosing) {
        if (!isLatest(request)) {
            return false;
        }
        request.choosing = Optional.of(choosing);
        return true;
    }

    private synchronized boolean isLatest(Request request) {
        return !closed && latest.filter(request::equals).isPresent();
    }

    private synchronized void end(Request request) {
        request.answered = true;
    }

    /** Called on this class's thread, and on the provider's for each better choice. */
    private void use(Request request, DelegationChoice choice) {
        if (choice.origin() == Origin.UNVERIFIED || !isLatest(request)) {
            return;
        }
        try {
            served.useAt(request.mix, choice);
        } finally {
            end(request);
        }
    }

    @Override
    public boolean isSettled() {
        Optional<DelegationProvider.Choosing> choosing;
        synchronized (this) {
            if (closed || latest.isEmpty() || latest.get().answered) {
                return true;
            }
            choosing = latest.get().choosing;
        }
        return choosing.map(DelegationProvider.Choosing::isSettled).orElse(false);
    }

    @Override
    public void close() {
        Optional<Request> last;
        synchronized (this) {
            closed = true;
            last = latest;
        }
        last.ifPresent(this::cancel);
    }
}
