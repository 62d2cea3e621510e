package org.djlplan.delegation.internal;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.djlplan.delegation.internal.Measurement.Profiling;
import org.djlplan.delegation.internal.Measurement.UnmeasurableException;
import org.djlplan.memplan.internal.machine.Machine;
import org.djlplan.memplan.spi.DelegableModel.Urgency;
import org.djlplan.memplan.spi.DelegationChoice;
import org.djlplan.memplan.spi.NoRoomException;

/** A JVM that ends while a model in a folder is measured, or just before the measurement starts. */
public final class EndingProgram {

    /** Shutdown begins before the measurement. */
    static final String BEFORE = "before";

    /** Shutdown begins while a process measures, and kills the process. */
    static final String MEANWHILE = "meanwhile";

    private EndingProgram() {}

    /**
     * Measures while the JVM shuts down.
     *
     * @param args the folder, and when shutdown begins
     */
    public static void main(String[] args) throws InterruptedException {
        FakeModel model = new FakeModel(Path.of(args[0]));
        CountDownLatch attempted = new CountDownLatch(1);
        if (args[1].equals(BEFORE)) {
            Runtime.getRuntime()
                    .addShutdownHook(
                            new Thread(
                                    () ->
                                            attempt(
                                                    model,
                                                    (request, runner, progress, verified) ->
                                                            SampleTables.small(2))));
            return;
        }
        CountDownLatch ending = new CountDownLatch(1);
        Runtime.getRuntime()
                .addShutdownHook(
                        new Thread(
                                () -> {
                                    ending.countDown();
                                    await(attempted);
                                }));
        attempt(
                model,
                (request, runner, progress, verified) -> {
                    new Thread(() -> System.exit(0)).start();
                    await(ending);
                    // Waits until the other hook, which removes the mark, has run.
                    while (MeasurementTest.marks(model) > 0) {
                        Thread.onSpinWait();
                    }
                    throw new NoRoomException("killed", true);
                });
        attempted.countDown();
    }

    private static void await(CountDownLatch latch) {
        try {
            if (!latch.await(1, TimeUnit.MINUTES)) {
                throw new AssertionError("it takes too long");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void attempt(FakeModel model, Profiling profiling) {
        try {
            DelegationOptions options = DelegationOptions.parse(Map.of());
            Measurement measurement =
                    new Measurement(
                            model,
                            options.request(model),
                            profiling,
                            Optional.empty(),
                            new Machine());
            Optional<DelegationChoice> unused =
                    measurement.attempt(0, Urgency.IN_BACKGROUND, early -> {}, kept -> true);
        } catch (UnmeasurableException e) {
            System.out.println(e.getMessage());
        } catch (Exception e) {
            System.err.println(e);
            Runtime.getRuntime().halt(1);
        }
    }
}
