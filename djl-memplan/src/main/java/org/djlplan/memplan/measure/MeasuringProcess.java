package org.djlplan.memplan.measure;

import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.djlplan.memplan.child.ParentConnection;
import org.djlplan.memplan.runtime.tflite.CandidateInterpreters;
import org.djlplan.memplan.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.runtime.tflite.UnplannableException;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateRunner;

/**
 * The process at the other end of a {@link ProcessRunner}. Says hello with the version of the
 * protocol, is told to open a model, then carries out one request after the other. Ends, whatever
 * it is doing, when its input ends.
 */
public final class MeasuringProcess {

    private static final Path OUT_OF_MEMORY_SCORE = Path.of("/proc/self/oom_score_adj");
    private static final String END_THIS_ONE_FIRST = "1000";

    private final Opener opener;
    private final ParentConnection parent;

    /** Opens the model that is to be measured. */
    interface Opener {
        /**
         * Opens it.
         *
         * @throws Exception if that is not possible; the message says why
         */
        CandidateRunner open(MeasuredModel model) throws Exception;
    }

    private MeasuringProcess(Opener opener, ParentConnection parent) {
        this.opener = opener;
        this.parent = parent;
    }

    /** Measures until the input ends. */
    public static void main(String[] args) throws InterruptedException {
        serve(
                model -> {
                    // It need not come from DJL's engine, which would take longer to start.
                    EngineLibrary.load(model.engineLibrary());
                    return open(model);
                });
    }

    /** Opens a model in this process, where the engine is loaded. */
    static CandidateRunner open(MeasuredModel model) throws IOException, UnplannableException {
        return CandidateInterpreters.open(model.file(), model.delegate(), model.options());
    }

    /** Measures what an opener opens, until the input ends. */
    static void serve(Opener opener) throws InterruptedException {
        ParentConnection parent = ParentConnection.open(MeasuringProcess::deleteFolder);
        preferToBeEnded();
        parent.reply(Messages.hello());
        new MeasuringProcess(opener, parent).run();
    }

    private void run() throws InterruptedException {
        JsonObject request = parent.take();
        try (CandidateRunner runner = opener.open(MeasuredModel.fromJson(request))) {
            parent.reply(JsonNull.INSTANCE);
            while (true) {
                answer(parent.take(), runner);
            }
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception | Error e) {
            e.printStackTrace();
            parent.fail(Messages.NOT_OPENED, describe(e));
        }
    }

    private void answer(JsonObject request, CandidateRunner runner) throws InterruptedException {
        String step = request.get("step").getAsString();
        try {
            if (step.equals(Messages.PARTITIONS)) {
                parent.reply(Messages.partitionsToJson(runner.partitions()));
                return;
            }
            answer(step, Messages.candidate(request), request, runner);
        } catch (CandidateException e) {
            parent.fail(e.kind().name(), describe(e));
        } catch (RuntimeException | Error e) {
            e.printStackTrace();
            parent.fail(CandidateException.Kind.REFUSED.name(), describe(e));
        }
    }

    private void answer(
            String step, Candidate candidate, JsonObject request, CandidateRunner runner)
            throws CandidateException, InterruptedException {
        switch (step) {
            case Messages.PREPARE -> parent.reply(Messages.toJson(runner.prepare(candidate)));
            case Messages.TIME ->
                    parent.reply(Messages.toJson(runner.time(candidate, inferences(request))));
            case Messages.PROFILE ->
                    parent.reply(Messages.toJson(runner.profile(candidate, inferences(request))));
            case Messages.RELEASE -> {
                runner.release(candidate);
                parent.reply(JsonNull.INSTANCE);
            }
            default -> throw new IllegalArgumentException("unknown step: " + step);
        }
    }

    private static int inferences(JsonObject request) {
        return request.get("inferences").getAsInt();
    }

    private static String describe(Throwable thrown) {
        String message = thrown.getMessage();
        boolean telling = thrown instanceof CandidateException && message != null;
        return telling ? message : thrown.toString();
    }

    /** A candidate may take all memory there is: then Linux is to end this process, no other. */
    private static void preferToBeEnded() {
        try {
            Files.writeString(OUT_OF_MEMORY_SCORE, END_THIS_ONE_FIRST);
        } catch (IOException e) {
            // Not on Linux, or not allowed: it chooses by size.
        }
    }

    /** The parent does that too, unless it is gone. */
    private static void deleteFolder() {
        String folder = System.getProperty(MeasuringJvm.FOLDER);
        if (folder != null) {
            TemporaryFolder.delete(Path.of(folder));
        }
    }
}
