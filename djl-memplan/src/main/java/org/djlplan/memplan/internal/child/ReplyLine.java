package org.djlplan.memplan.internal.child;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.util.Optional;
import org.djlplan.memplan.internal.child.ChildProcess.Answer;

/** Formats and parses an answer as a line of a child's output. */
final class ReplyLine {

    /** Prefix of each reply, which distinguishes it from output of native code. */
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
        // toString() writes nulls and escapes line breaks, so the text is always one line.
        return PREFIX + reply;
    }

    /** Returns the answer in a line, or empty if the line is not a reply. */
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
            // Not JSON, or not of these types: an invalid reply.
        } catch (NullPointerException e) {
            // A failure without a message: an invalid reply.
        }
        return Optional.of(new Answer.Lost("sent an invalid answer", ChildProcess.End.OTHER));
    }
}
