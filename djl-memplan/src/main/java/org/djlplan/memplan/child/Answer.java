package org.djlplan.memplan.child;

import com.google.gson.JsonElement;
import java.time.Duration;

/** What became of a request to a child process. */
public sealed interface Answer {

    /**
     * It was done.
     *
     * @param value what the child answered
     */
    record Result(JsonElement value) implements Answer {}

    /**
     * The child could not do it, and said why; it still runs.
     *
     * @param kind one word that parent and child agree on
     * @param message in one line, for people
     */
    record Failure(String kind, String message) implements Answer {}

    /**
     * The child ended, or said what is no answer and was ended.
     *
     * @param how in one line, for people; begins with a verb: "ended with exit code 1; …"
     * @param outOfMemory whether the system killed it, which it does when there is no memory left
     */
    record Lost(String how, boolean outOfMemory) implements Answer {}

    /**
     * No answer came in time. The child still runs.
     *
     * @param patience how long that was
     */
    record Silent(Duration patience) implements Answer {}
}
