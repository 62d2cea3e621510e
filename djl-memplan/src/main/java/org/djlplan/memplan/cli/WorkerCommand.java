package org.djlplan.memplan.cli;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Measures one model run one way for another process, which asks for each step by a line of JSON on
 * the input and gets a line of JSON on the output. The steps are described in {@link
 * WorkerProcess}. Ends, whatever it is doing, when its input ends.
 */
@Command(name = "worker", hidden = true, description = "Runs a model for another process.")
final class WorkerCommand implements Callable<Integer> {

    /** Starts each reply, so that whatever native code prints is not taken for one. */
    static final String REPLY_PREFIX = "djlplan-reply ";

    @Mixin private RunOptions options = new RunOptions();

    @Option(names = "--stock", description = "Run without a plan.")
    private boolean stock;

    private final BlockingQueue<String> requests = new LinkedBlockingQueue<>();

    RunOptions options() {
        return options;
    }

    @Override
    public Integer call() throws InterruptedException, IOException {
        PrintStream replies = System.out;
        System.setOut(System.err);
        Thread reader = new Thread(this::readRequests, "requests");
        reader.setDaemon(true);
        reader.start();
        try {
            try (Measurement measurement = new Measurement(options, stock)) {
                reply(replies, new JsonPrimitive("loaded"));
                serve(measurement, replies);
            }
            reply(replies, new JsonPrimitive("closed"));
            return 0;
        } catch (Failure e) {
            fail(replies, e);
        } catch (RuntimeException | LinkageError | OutOfMemoryError e) {
            e.printStackTrace();
            fail(replies, e);
        }
        return 1;
    }

    /** Answers requests until one asks to close the model. */
    private void serve(Measurement measurement, PrintStream replies)
            throws InterruptedException, IOException {
        while (true) {
            JsonObject request = JsonParser.parseString(requests.take()).getAsJsonObject();
            switch (request.get("step").getAsString()) {
                case "warmUp" -> {
                    measurement.warmUp();
                    reply(replies, new JsonPrimitive("warm"));
                }
                case "outputs" -> {
                    Path file = Path.of(request.get("file").getAsString());
                    reply(replies, measurement.writeOutputs(file));
                }
                case "time" -> {
                    measurement.time(request.get("count").getAsInt());
                    reply(replies, new JsonPrimitive("timed"));
                }
                case "figures" -> reply(replies, measurement.figures().toJson());
                case "finish" -> {
                    return;
                }
                default -> throw new IllegalArgumentException("unknown step: " + request);
            }
        }
    }

    private static void reply(PrintStream replies, JsonElement result) {
        JsonObject reply = new JsonObject();
        reply.add("result", result);
        send(replies, reply);
    }

    private static void fail(PrintStream replies, Throwable thrown) {
        JsonObject reply = new JsonObject();
        reply.addProperty("error", Failure.describe(thrown));
        send(replies, reply);
    }

    private static void send(PrintStream replies, JsonObject reply) {
        // toString() writes nulls and escapes line breaks: always one line.
        replies.println(REPLY_PREFIX + reply);
        replies.flush();
    }

    private void readRequests() {
        try (BufferedReader in =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                requests.add(line);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            // The parent is done, or gone: nothing that still runs here is of use to anyone.
            Runtime.getRuntime().halt(0);
        }
    }
}
