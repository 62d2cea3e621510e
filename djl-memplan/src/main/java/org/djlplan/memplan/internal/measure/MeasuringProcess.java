package org.djlplan.memplan.internal.measure;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.regex.Pattern;
import org.djlplan.memplan.internal.child.ParentConnection;
import org.djlplan.memplan.internal.json.RecordJson;
import org.djlplan.memplan.internal.measure.Messages.Opening;
import org.djlplan.memplan.internal.measure.Messages.Request;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateRunner;
import org.slf4j.ILoggerFactory;
import org.slf4j.LoggerFactory;

/**
 * The main class of the process at the other end of a {@link ProcessRunner}. It sends a hello with
 * the protocol version, opens a model on request, then carries out one request after another. It
 * ends immediately when its input ends.
 */
public final class MeasuringProcess {

    private final Opener opener;
    private final ParentConnection parent;

    /** Opens the model to measure. */
    interface Opener {
        /**
         * Opens it.
         *
         * @throws Exception if the model cannot be opened; the message says why
         */
        CandidateRunner open(ModelRequest model) throws Exception;
    }

    private MeasuringProcess(Opener opener, ParentConnection parent) {
        this.opener = opener;
        this.parent = parent;
    }

    /** Measures until the input ends. */
    public static void main(String[] args) throws InterruptedException {
        keepLoggingQuiet();
        serve(ModelRequest::open);
    }

    /** There is no logging library here, about which slf4j would print several lines. */
    private static void keepLoggingQuiet() {
        PrintStream errors = System.err;
        System.setErr(new PrintStream(OutputStream.nullOutputStream(), false, UTF_8));
        try {
            ILoggerFactory unused = LoggerFactory.getILoggerFactory();
        } finally {
            System.setErr(errors);
        }
    }

    /** Measures what an opener opens, until the input ends. */
    static void serve(Opener opener) throws InterruptedException {
        ParentConnection parent = ParentConnection.open(MeasuringProcess::deleteFolder);
        parent.reply(Messages.hello());
        new MeasuringProcess(opener, parent).run();
    }

    private void run() throws InterruptedException {
        Opening opening = RecordJson.read(parent.take(), Opening.class);
        opening.properties().forEach(System::setProperty);
        try (CandidateRunner runner = open(opening)) {
            parent.reply(JsonNull.INSTANCE);
            while (true) {
                answer(RecordJson.read(parent.take(), Request.class), runner);
            }
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception | Error e) {
            e.printStackTrace();
            parent.fail(Messages.NOT_OPENED, describe(e));
        }
    }

    private CandidateRunner open(Opening opening) throws Exception {
        if (!opening.delegateClasses().isEmpty()) {
            Thread.currentThread()
                    .setContextClassLoader(
                            DelegateClasses.of(
                                    opening.delegateClasses(),
                                    MeasuringProcess.class.getClassLoader()));
        }
        return opener.open(opening.model());
    }

    private void answer(Request request, CandidateRunner runner) throws InterruptedException {
        try {
            parent.reply(result(request, runner));
        } catch (CandidateException e) {
            parent.fail(e.kind().name(), describe(e));
        } catch (RuntimeException | Error e) {
            e.printStackTrace();
            parent.fail(CandidateException.Kind.REFUSED.name(), describe(e));
        }
    }

    private static JsonElement result(Request request, CandidateRunner runner)
            throws CandidateException, InterruptedException {
        Candidate candidate = request.candidate();
        int inferences = request.inferences();
        return switch (request.step()) {
            case PARTITIONS -> RecordJson.tree(runner.partitions());
            case PREPARE -> RecordJson.tree(runner.prepare(candidate));
            case TIME -> RecordJson.tree(runner.time(candidate, inferences));
            case TIME_EACH_SHAPE -> RecordJson.tree(runner.timeEachShape(candidate));
            case PROFILE -> RecordJson.tree(runner.profile(candidate, inferences));
            case RELEASE -> {
                runner.release(candidate);
                yield JsonNull.INSTANCE;
            }
        };
    }

    private static String describe(Throwable thrown) {
        String message = thrown.getMessage();
        boolean telling = thrown instanceof CandidateException && message != null;
        return telling ? message : thrown.toString();
    }

    /** The parent deletes it, too, unless it has ended. */
    private static void deleteFolder() {
        String folder = System.getProperty(MeasuringJvm.FOLDER);
        if (folder != null) {
            TemporaryFolder.delete(Path.of(folder));
        }
    }

    /**
     * A class loader for a custom delegate and the classes that the delegate uses from the
     * application's class path. It hides logging configurations on that class path, because these
     * would open the application's log files.
     */
    static final class DelegateClasses extends URLClassLoader {

        private static final Pattern LOGGING =
                Pattern.compile(
                        "/?(META-INF/services/.*(slf4j|log4j|logback|logging).*"
                                + "|(log4j|logback|simplelogger|tinylog|logging)[^/]*)");

        static {
            ClassLoader.registerAsParallelCapable();
        }

        private DelegateClasses(URL[] places, ClassLoader parent) {
            super(places, parent);
        }

        static ClassLoader of(List<Path> places, ClassLoader parent) throws MalformedURLException {
            URL[] urls = new URL[places.size()];
            for (int i = 0; i < urls.length; i++) {
                urls[i] = places.get(i).toUri().toURL();
            }
            return new DelegateClasses(urls, parent);
        }

        @Override
        public URL findResource(String name) {
            return LOGGING.matcher(name).matches() ? null : super.findResource(name);
        }

        @Override
        public Enumeration<URL> findResources(String name) throws IOException {
            return LOGGING.matcher(name).matches()
                    ? Collections.emptyEnumeration()
                    : super.findResources(name);
        }
    }
}
