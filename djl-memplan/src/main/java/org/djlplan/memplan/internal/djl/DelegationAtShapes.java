package org.djlplan.memplan.internal.djl;

import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.internal.measure.TfLiteDelegableModel;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.internal.serving.ShapeChooser;
import org.djlplan.memplan.internal.thread.Later;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.DelegationProvider;
import org.djlplan.memplan.spi.ShapeMix;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The delegation of one model at other shapes than those in its file: asks a provider to choose for
 * the mix of shapes that was requested last.
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

    /**
     * A mix of shapes for which a provider chooses. Guarded by the delegation's lock. The request's
     * own lock is held while a choice is passed on, so that the latest choice stays.
     */
    private static final class Request {
        private final ShapeMix mix;

        /**
         * Empty until the provider has begun and, if its first choice is verified, this choice
         * serves.
         */
        private Optional<DelegationProvider.Choosing> choosing = Optional.empty();

        /** Whether the model has a verified choice, or the provider has none. */
        private boolean answered;

        /** Whether the model has a choice of this request. Guarded by the request. */
        private boolean serves;

        /** Whether the provider has chosen again. Guarded by the request. */
        private boolean improved;

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
        // It may take long, because an interpreter is built if there is a result already.
        if (!Later.start(() -> choose(request, before))) {
            before.ifPresent(this::cancel);
            end(request);
        }
    }

    private void choose(Request request, Optional<Request> before) {
        Optional<DelegationProvider.Choosing> started = Optional.empty();
        boolean begun = false;
        try {
            before.ifPresent(this::cancel);
            TfLiteDelegableModel atShapes = model.at(request.mix);
            started =
                    provider.chooseAtShapes(
                            atShapes, options, choice -> improve(request, atShapes.served(choice)));
            if (started.isEmpty()) {
                end(request);
                return;
            }
            useFirst(request, atShapes.served(started.get().first()));
            begun = begin(request, started.get());
        } catch (RuntimeException | Error e) {
            logger.warn("{} is not measured at other shapes", model.file(), e);
            end(request);
        } finally {
            if (!begun) {
                started.ifPresent(DelegationProvider.Choosing::close);
            }
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

    private void end(Request request) {
        answer(request, true);
    }

    private void useFirst(Request request, DelegationChoice choice) {
        synchronized (request) {
            if (!request.improved) {
                use(request, choice);
            }
        }
    }

    /** Called on the provider's thread. */
    private void improve(Request request, DelegationChoice choice) {
        synchronized (request) {
            request.improved = true;
            use(request, choice);
        }
    }

    /**
     * Passes a choice on if it is verified, or if an earlier choice, which serves now, proved
     * wrong. The caller holds the request's lock.
     */
    private void use(Request request, DelegationChoice choice) {
        boolean verified = choice.origin() != Origin.UNVERIFIED;
        if (!(verified || request.serves) || !isLatest(request)) {
            return;
        }
        request.serves = verified;
        try {
            served.useAt(request.mix, choice);
        } finally {
            answer(request, verified);
        }
    }

    private synchronized void answer(Request request, boolean verified) {
        request.answered = verified;
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
