package org.djlplan.memplan.internal.events;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

@Name("djlplan.Delegation")
@Label("Delegation")
@Category("djl-plan")
@Description("What of a model runs in the engine's delegate from now on")
@StackTrace(false)
@SuppressWarnings("UnusedVariable") // the recorder reads the fields
final class DelegationEvent extends Event {

    @Label("File")
    private String file;

    @Label("Operators")
    private int operators;

    @Label("Delegated Operators")
    private int delegatedOperators;

    @Label("Threads")
    private int threads;

    @Label("Origin")
    private String origin;

    static void record(String file, int operators, int delegated, int threads, String origin) {
        DelegationEvent event = new DelegationEvent();
        event.file = file;
        event.operators = operators;
        event.delegatedOperators = delegated;
        event.threads = threads;
        event.origin = origin;
        event.commit();
    }
}
