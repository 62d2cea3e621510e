package org.djlplan.memplan.measure;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.djlplan.memplan.child.Answer;
import org.djlplan.memplan.child.ChildProcess;

/** One measuring process, from its start to its end, and its temporary files. */
final class MeasuringChild implements AutoCloseable {

    private final ChildProcess process;
    private final Path folder;

    private MeasuringChild(ChildProcess process, Path folder) {
        this.process = process;
        this.folder = folder;
    }

    /** Starts a process; {@link #open} must follow. */
    static MeasuringChild start(MeasuringJvm jvm) throws IOException {
        Path folder = TemporaryFolder.create();
        try {
            return new MeasuringChild(ChildProcess.start(jvm.command(folder)), folder);
        } catch (IOException e) {
            TemporaryFolder.delete(folder);
            throw e;
        }
    }

    /**
     * Waits for its hello, and has it open the model.
     *
     * @throws IOException if it does not say hello, speaks another protocol, or cannot open it
     */
    void open(MeasuredModel model, Limits limits) throws IOException, InterruptedException {
        JsonElement hello = require("start", process.await(limits.start()));
        if (!hello.equals(Messages.hello())) {
            throw new IOException("a process to measure in speaks another protocol: " + hello);
        }
        JsonElement unused =
                require("open the model", process.ask(model.toJson(), limits.prepare()));
    }

    private static JsonElement require(String what, Answer answer) throws IOException {
        if (answer instanceof Answer.Result result) {
            return result.value();
        }
        throw new IOException("a process to measure in did not " + what + ": " + describe(answer));
    }

    private static String describe(Answer answer) {
        if (answer instanceof Answer.Failure failure) {
            return failure.message();
        }
        if (answer instanceof Answer.Lost lost) {
            return "it " + lost.how();
        }
        return "no answer in " + ((Answer.Silent) answer).patience().toMillis() + " ms";
    }

    Answer ask(JsonObject request, Duration patience) throws InterruptedException {
        return process.ask(request, patience);
    }

    /** Returns the process's id. */
    long pid() {
        return process.pid();
    }

    /** Ends it in whatever it is doing. */
    @Override
    public void close() {
        process.kill();
        TemporaryFolder.delete(folder);
    }
}
