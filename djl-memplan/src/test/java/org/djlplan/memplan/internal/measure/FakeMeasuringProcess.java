package org.djlplan.memplan.internal.measure;

import com.google.gson.JsonPrimitive;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import org.djlplan.memplan.internal.child.ParentConnection;

/**
 * A measuring process that serves a {@link FakeRunner}, or fails at its start in the way that its
 * argument names.
 */
final class FakeMeasuringProcess {

    /** The behaviour of the process at its start. */
    enum Start {
        GOOD,
        SILENT,
        EXIT,
        OTHER_PROTOCOL,
        CANNOT_OPEN
    }

    private FakeMeasuringProcess() {}

    public static void main(String[] args) throws InterruptedException {
        switch (Start.valueOf(args[0])) {
            case GOOD -> MeasuringProcess.serve(model -> new FakeRunner());
            case SILENT -> new CountDownLatch(1).await();
            case EXIT -> System.err.println("no such library");
            case OTHER_PROTOCOL -> {
                ParentConnection.open(() -> {}).reply(new JsonPrimitive("another"));
                new CountDownLatch(1).await();
            }
            case CANNOT_OPEN ->
                    MeasuringProcess.serve(
                            model -> {
                                throw new IOException(model.file() + " is damaged");
                            });
        }
    }
}
