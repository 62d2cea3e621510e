package org.djlplan.memplan.child;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.util.Optional;
import org.djlplan.memplan.child.ChildProcess.Answer;

/** An answer as a line of a child's output. */
final class ReplyLine {

    /** Starts each reply, so that whatever native code prints is not taken for one. */
    private static final String PREFIX = "djlplan-reply ";

    private ReplyLine() {}

    static String ofResult(JsonElement result) {
        JsonObject reply = new JsonObject();
        reply.add("result", result);
        return of(reply);
    }

    static String ofFailure(String kind, String message) {
        JsonObject reply = new JsonObject();
        reply.addProperty("failure", kind);
        reply.addProperty("message", message);
        return of(reply);
    }

    private static String of(JsonObject reply) {
        // toString() writes nulls and escapes line breaks: always one line.
        return PREFIX + reply;
    }

    /** Returns what a line says, or empty if it is no reply. */
    static Optional<Answer> read(String line) {
        if (!line.startsWith(PREFIX)) {
            return Optional.empty();
        }
        try {
            JsonObject reply =
                    JsonParser.parseString(line.substring(PREFIX.length())).getAsJsonObject();
            if (reply.has("result")) {
                return Optional.of(new Answer.Result(reply.get("result")));
            }
            if (reply.has("failure")) {
                return Optional.of(
                        new Answer.Failure(
                                reply.get("failure").getAsString(),
                                reply.get("message").getAsString()));
            }
        } catch (JsonParseException | IllegalStateException | UnsupportedOperationException e) {
            // No JSON, or not of these types: nonsense.
        } catch (NullPointerException e) {
            // A failure without a message: nonsense.
        }
        return Optional.of(new Answer.Lost("answered what is no answer", ChildProcess.End.OTHER));
    }
}
