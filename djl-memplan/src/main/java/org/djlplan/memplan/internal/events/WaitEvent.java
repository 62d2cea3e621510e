package org.djlplan.memplan.internal.events;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

@Name("djlplan.Wait")
@Label("Wait")
@Category("djl-plan")
@Description("A prediction waited for others")
@StackTrace(false)
@SuppressWarnings("UnusedVariable") // the recorder reads the fields
final class WaitEvent extends Event {

    private static final long LEAST_NANOS = 1_000_000;

    @Label("Lack")
    @Description("What there were too few of")
    private String lack;

    @Label("Time")
    @Timespan(Timespan.NANOSECONDS)
    private long time;

    static void record(String lack, long nanos) {
        WaitEvent event = new WaitEvent();
        if (nanos >= LEAST_NANOS && event.isEnabled()) {
            event.lack = lack;
            event.time = nanos;
            event.commit();
        }
    }
}
