package org.djlplan.delegation;

import ai.djl.util.Progress;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.djlplan.delegation.table.ProfileTable;
import org.djlplan.memplan.config.Option;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.DelegableModel.Urgency;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.DelegationProvider;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delegates what was measured to be best. What was measured is kept next to the model and used at
 * once from then on; until something was verified, the CPU kernels are.
 */
public final class MeasuredDelegation implements DelegationProvider {

    private static final Logger logger = LoggerFactory.getLogger(MeasuredDelegation.class);

    private final Profiling profiling;
    private final Patience patience;

    /** Called by ServiceLoader. */
    public MeasuredDelegation() {
        this(Profiling.of(false), Patience.DEFAULT);
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
        Request request = Request.of(model, parsed);
        if (!parsed.enabled()) {
            return new Settled(cpu(request, DelegationKey.ENABLED.key() + "=false"));
        }
        Measurement measurement;
        Optional<ProfileTable> kept;
        try {
            measurement = new Measurement(request, profiling, progress);
            kept = measurement.kept();
        } catch (IOException | RuntimeException e) {
            logger.warn("What was measured of {} cannot be looked up", model.file(), e);
            return new Settled(cpu(request, "what was measured cannot be looked up"));
        }
        boolean measured = parsed.profile() != ProfileMode.OFF;
        if (kept.isPresent()) {
            return Background.confirming(
                    kept.get(), measured, request, measurement, patience, better);
        }
        if (measured) {
            try {
                measurement.requireMeasurable();
            } catch (UnmeasurableException e) {
                return new Settled(measurement.unmeasured(e));
            }
        }
        return switch (parsed.profile()) {
            case OFF -> new Settled(cpu(request, "nothing was measured"));
            case BLOCKING -> new Settled(measure(request, measurement));
            case BACKGROUND -> Background.measuring(request, measurement, patience, better);
        };
    }

    /** Measures, or waits for another JVM that does. */
    private DelegationChoice measure(Request request, Measurement measurement) {
        long deadlineNanos = System.nanoTime() + patience.nanos(request.longest());
        try {
            long leftNanos = deadlineNanos - System.nanoTime();
            while (leftNanos > 0) {
                Optional<DelegationChoice> choice =
                        measurement.attempt(leftNanos, Urgency.AWAITED, verified -> {});
                if (choice.isPresent()) {
                    return choice.get();
                }
                Thread.sleep(patience.poll().toMillis());
                leftNanos = deadlineNanos - System.nanoTime();
            }
            logger.warn("Another process measures {} for long", request.model().file());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return cpu(request, "measuring was interrupted");
        } catch (UnmeasurableException e) {
            return measurement.unmeasured(e);
        } catch (IOException | RuntimeException | LinkageError e) {
            logger.warn("{} could not be measured", request.model().file(), e);
        }
        return cpu(request, "it could not be measured");
    }

    static DelegationChoice cpu(Request request, String reason) {
        return new DelegationChoice(
                request.unmeasured(), DelegationChoice.Origin.UNVERIFIED, "CPU kernels: " + reason);
    }

    /** A choice that stays. */
    private record Settled(DelegationChoice first) implements Choosing {
        @Override
        public void close() {}
    }
}
