package org.djlplan.memplan.internal.child;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * A child's end of the connection to its parent process. Requests arrive on the standard input and
 * replies go to the standard output, one per line. Not thread-safe.
 */
public final class ParentConnection {

    private final PrintStream replies;
    private final BlockingQueue<String> requests = new LinkedBlockingQueue<>();

    private ParentConnection(PrintStream replies) {
        this.replies = replies;
    }

    /**
     * Takes over this process's input and output; other output goes to the error stream from now
     * on. Text on both is UTF-8, whatever the locale. When the input ends, because the parent is
     * done or gone, this process ends immediately.
     *
     * @param atEnd runs before the process ends
     */
    public static ParentConnection open(Runnable atEnd) {
        ParentConnection connection = new ParentConnection(utf8(System.out));
        System.setErr(utf8(System.err));
        System.setOut(System.err);
        Thread reader = new Thread(() -> connection.readRequests(atEnd), "requests");
        reader.setDaemon(true);
        reader.start();
        return connection;
    }

    private static PrintStream utf8(PrintStream out) {
        return new PrintStream(out, true, StandardCharsets.UTF_8);
    }

    /**
     * Waits for the next request.
     *
     * @throws RuntimeException if it is not a JSON object
     */
    public JsonObject take() throws InterruptedException {
        return JsonParser.parseString(requests.take()).getAsJsonObject();
    }

    /** Sends the result of a request. */
    public void reply(JsonElement result) {
        send(ReplyLine.ofResult(result));
    }

    /** Reports that a request failed; see {@link ChildProcess.Answer.Failure}. */
    public void fail(String kind, String message) {
        send(ReplyLine.ofFailure(kind, message));
    }

    private void send(String line) {
        // Native code may have printed an incomplete line before.
        replies.print("\n" + line + "\n");
        replies.flush();
    }

    private void readRequests(Runnable atEnd) {
        try (BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                requests.add(line);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            try {
                atEnd.run();
            } finally {
                Runtime.getRuntime().halt(0);
            }
        }
    }
}
