package org.djlplan.memplan.internal.events;

import java.util.function.Supplier;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;

@Name("djlplan.Prediction")
@Label("Prediction")
@Category("djl-plan")
@Description("A forward pass of a planned model, with what it waited for")
@Threshold("10 ms")
@StackTrace(false)
@SuppressWarnings("UnusedVariable") // the recorder reads the fields
final class PredictionEvent extends Event {

    @Label("Model")
    private String model;

    @Label("Engine")
    private String engine;

    static <T> T record(String model, String engine, Supplier<T> pass) {
        PredictionEvent event = new PredictionEvent();
        if (!event.isEnabled()) {
            return pass.get();
        }
        event.begin();
        try {
            return pass.get();
        } finally {
            event.model = model;
            event.engine = engine;
            event.commit();
        }
    }
}
