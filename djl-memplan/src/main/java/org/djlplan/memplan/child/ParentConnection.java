package org.djlplan.memplan.child;

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
 * A child's end of the connection to the process that started it. Requests come on the standard
 * input and replies go to the standard output, each on a line. For one thread at a time.
 */
public final class ParentConnection {

    private final PrintStream replies;
    private final BlockingQueue<String> requests = new LinkedBlockingQueue<>();

    private ParentConnection(PrintStream replies) {
        this.replies = replies;
    }

    /**
     * Takes over this process's input and output; what is printed from now on goes to the error
     * stream. When the input ends, because the parent is done or gone, this process ends at once,
     * whatever it is doing.
     *
     * @param atEnd runs before that
     */
    public static ParentConnection open(Runnable atEnd) {
        ParentConnection connection = new ParentConnection(System.out);
        System.setOut(System.err);
        Thread reader = new Thread(() -> connection.readRequests(atEnd), "requests");
        reader.setDaemon(true);
        reader.start();
        return connection;
    }

    /**
     * Waits for the next request.
     *
     * @throws RuntimeException if it is not a JSON object
     */
    public JsonObject take() throws InterruptedException {
        return JsonParser.parseString(requests.take()).getAsJsonObject();
    }

    /** Answers a request that was carried out. */
    public void reply(JsonElement result) {
        send(ReplyLine.ofResult(result));
    }

    /** Answers a request that failed; see {@link ChildProcess.Answer.Failure}. */
    public void fail(String kind, String message) {
        send(ReplyLine.ofFailure(kind, message));
    }

    private void send(String line) {
        // Native code may have printed the beginning of a line.
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
