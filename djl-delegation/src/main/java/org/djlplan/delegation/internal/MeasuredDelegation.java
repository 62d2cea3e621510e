package org.djlplan.delegation.internal;

import ai.djl.util.Progress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.djlplan.delegation.internal.Background.Patience;
import org.djlplan.delegation.internal.DelegationOptions.OnMissing;
import org.djlplan.delegation.internal.DelegationOptions.ProfileMode;
import org.djlplan.delegation.internal.Measurement.Profiling;
import org.djlplan.delegation.internal.Measurement.UnmeasurableException;
import org.djlplan.delegation.internal.choice.ProfileTable;
import org.djlplan.delegation.internal.choice.Request;
import org.djlplan.delegation.internal.choice.Request.Goal;
import org.djlplan.delegation.internal.profile.Profiler;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.DelegableModel.Urgency;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.DelegationProvider;
import org.djlplan.memplan.spi.Option;
import org.djlplan.memplan.spi.ShapeMix;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.memplan.spi.UnusableOptionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delegates the set of operators that was measured to be the best. Results are stored next to the
 * model, and used at once by later loads; until a set is verified, the CPU kernels run everything.
 */
public final class MeasuredDelegation implements DelegationProvider {

    private static final Logger logger = LoggerFactory.getLogger(MeasuredDelegation.class);

    private final Profiling profiling;
    private final Patience patience;

    /** Called by ServiceLoader. */
    public MeasuredDelegation() {
        this(Profiler::profile, Patience.DEFAULT);
    }

    MeasuredDelegation(Profiling profiling, Patience patience) {
        this.profiling = profiling;
        this.patience = patience;
    }

    @Override
    public List<Option> options() {
        return List.of(DelegationKey.values());
    }

    @Override
    public void check(Map<String, String> options) {
        DelegationOptions unused = DelegationOptions.parse(options);
    }

    @Override
    public Choosing choose(
            DelegableModel model,
            Map<String, String> options,
            Optional<Progress> progress,
            Consumer<DelegationChoice> better) {
        DelegationOptions parsed = DelegationOptions.parse(options);
        Request request = parsed.request(model);
        if (!parsed.enabled()) {
            return new Settled(request.cpu(DelegationKey.ENABLED.key() + "=false"));
        }
        Measurement measurement = measurement(model, request, progress);
        Optional<ProfileTable> kept = Optional.empty();
        try {
            if (parsed.pinned()) {
                StoreKey unused = measurement.key();
            } else {
                kept = measurement.kept();
            }
        } catch (RuntimeException e) {
            logger.warn("The stored results of {} cannot be read", model.file(), e);
            if (parsed.onMissing() == OnMissing.FAIL) {
                throw new UnusableOptionException(
                        DelegationKey.ON_MISSING.key() + "=fail: nothing can be looked up: " + e);
            }
            return new Settled(request.cpu("stored results cannot be read"));
        }
        if (kept.isPresent()) {
            return stored(kept.get(), parsed, request, measurement, better);
        }
        return pinned(request, parsed, measurement)
                .orElseGet(() -> measured(request, parsed, measurement, better));
    }

    private Measurement measurement(
            DelegableModel model, Request request, Optional<Progress> progress) {
        return new Measurement(model, request, profiling, progress, new Machine());
    }

    /**
     * Returns the choice of a pinned job, which stays while the job runs: the choice of the first
     * stored table, with one number of threads; or the CPU kernels if the options say so.
     *
     * @return empty if the job is not pinned, or if the model must be measured
     * @throws UnusableOptionException if nothing is stored and that is an error, or a named file
     *     cannot be read
     */
    private static Optional<Choosing> pinned(
            Request request, DelegationOptions options, Measurement measurement) {
        if (!options.pinned()) {
            return Optional.empty();
        }
        Optional<ProfileTable> table =
                options.profileFrom()
                        .flatMap(from -> named(from, measurement))
                        .or(() -> measurement.kept());
        if (table.isPresent()) {
            return table.map(request::pinned).map(Settled::new);
        }
        return switch (options.onMissing()) {
            case FAIL -> throw new UnusableOptionException(missing(options, measurement));
            case CPU ->
                    Optional.of(new Settled(request.cpu("no result is stored for this hardware")));
            case MEASURE -> Optional.empty();
        };
    }

    private static Optional<ProfileTable> named(Path location, Measurement measurement) {
        try {
            return measurement.tables().in(location);
        } catch (IOException e) {
            throw new UnusableOptionException(
                    "%s=%s: it cannot be read (%s)"
                            .formatted(DelegationKey.PROFILE_FROM.key(), location, e));
        }
    }

    private static String missing(DelegationOptions options, Measurement measurement) {
        List<String> places = new ArrayList<>();
        options.profileFrom().ifPresent(from -> places.add(from.toString()));
        places.add(measurement.file().resolveSibling(".djlplan").toString());
        StoreKey key = measurement.key();
        return ("%s=fail: no result of %s is stored for %s; searched %s. `djlplan tune "
                        + "--into=FOLDER %s`, with the options of this load, makes it on a "
                        + "machine of the same kind")
                .formatted(
                        DelegationKey.ON_MISSING.key(),
                        key.model(),
                        key.facts(),
                        String.join(", ", places),
                        key.model());
    }

    private Choosing stored(
            ProfileTable kept,
            DelegationOptions options,
            Request request,
            Measurement measurement,
            Consumer<DelegationChoice> better) {
        boolean measured = options.profile() != ProfileMode.OFF;
        return Background.stored(kept, measured, request, measurement, patience, better);
    }

    private Choosing measured(
            Request request,
            DelegationOptions options,
            Measurement measurement,
            Consumer<DelegationChoice> better) {
        if (options.profile() == ProfileMode.OFF) {
            return new Settled(request.cpu("nothing was measured"));
        }
        try {
            measurement.requireMeasurable();
        } catch (UnmeasurableException e) {
            return new Settled(measurement.unmeasured(e));
        }
        if (options.profile() == ProfileMode.BLOCKING) {
            DelegationChoice choice = measure(request, measurement);
            return options.pinned()
                    ? new Settled(choice.only(choice.lightest()))
                    : Background.settled(choice, request, measurement, patience);
        }
        // A result that is measured while a pinned job runs is used by the next job.
        return Background.measuring(
                request, measurement, patience, options.pinned() ? later -> {} : better);
    }

    @Override
    public Tolerance tolerance(Map<String, String> options) {
        return DelegationOptions.parse(options).tolerance();
    }

    /** Returns nothing for a pinned job, which runs other shapes in CPU kernels. */
    @Override
    public Optional<Choosing> chooseAtShapes(
            DelegableModel model, Map<String, String> options, Consumer<DelegationChoice> better) {
        DelegationOptions parsed = DelegationOptions.parse(options);
        if (!parsed.enabled() || parsed.pinned()) {
            return Optional.empty();
        }
        Request request = parsed.request(model);
        Measurement measurement = measurement(model, request, Optional.empty());
        try {
            Optional<ProfileTable> kept = measurement.kept();
            if (kept.isPresent()) {
                return Optional.of(stored(kept.get(), parsed, request, measurement, better));
            }
            if (parsed.profile() == ProfileMode.OFF) {
                return Optional.empty();
            }
            measurement.requireMeasurable();
            return Optional.of(Background.measuring(request, measurement, patience, better));
        } catch (UnmeasurableException | RuntimeException e) {
            logger.info("{} is not measured at other shapes: {}", model.file(), e.getMessage());
            return Optional.empty();
        }
    }

    @Override
    public List<ShapeMix> storedMixes(DelegableModel model, Map<String, String> options) {
        DelegationOptions parsed = DelegationOptions.parse(options);
        try {
            return ProfileStore.mixes(model, parsed.request(model));
        } catch (IOException | RuntimeException e) {
            logger.debug("The stored results of {} cannot be read", model.file(), e);
            return List.of();
        }
    }

    /**
     * In a budget, the CPU kernels serve if operators are excluded, if the goal is least memory, or
     * if the job is pinned, because a choice in a budget is made again in every process and for
     * every budget.
     */
    @Override
    public Optional<Terms> insideBudget(Map<String, String> options) {
        DelegationOptions parsed = DelegationOptions.parse(options);
        boolean wanted =
                parsed.enabled()
                        && parsed.profile() != ProfileMode.OFF
                        && !parsed.pinned()
                        && parsed.goal().objective() != Goal.Objective.MEMORY
                        && parsed.exclude().parts().isEmpty();
        return wanted
                ? Optional.of(
                        new Terms(
                                parsed.tolerance(),
                                parsed.goal().maxMemoryBytes(),
                                parsed.profile() == ProfileMode.BLOCKING))
                : Optional.empty();
    }

    /** Measures, or waits for another JVM that does. */
    private DelegationChoice measure(Request request, Measurement measurement) {
        try {
            Optional<DelegationChoice> choice =
                    patience.untilDone(
                            request.longest(),
                            leftNanos ->
                                    measurement.attempt(
                                            leftNanos,
                                            Urgency.AWAITED,
                                            verified -> {},
                                            kept -> true));
            if (choice.isPresent()) {
                return choice.get();
            }
            logger.warn("Another process measures {} for long", measurement.file());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return request.cpu("measuring was interrupted");
        } catch (UnmeasurableException e) {
            return measurement.unmeasured(e);
        } catch (IOException | RuntimeException | LinkageError e) {
            logger.warn("{} could not be measured", measurement.file(), e);
        }
        return request.cpu("it could not be measured");
    }

    /** A choice that never changes. */
    private record Settled(DelegationChoice first) implements Choosing {
        @Override
        public boolean isSettled() {
            return true;
        }

        @Override
        public void close() {}
    }
}
