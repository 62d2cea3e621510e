package org.djlplan.integration.guest;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.DelegationReport.Origin;
import org.djlplan.memplan.report.PlanReport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A user's application: loads a model with delegation, logs into a file that its logging library
 * empties at each start, and prints results for the tests.
 *
 * <p>Arguments: the model's file, the value of {@code delegation.profile}, and the event that
 * happens as soon as a measuring process runs.
 */
public final class Application {

    private static final Logger logger = LoggerFactory.getLogger(Application.class);

    private static final long PATIENCE_MINUTES = 8;
    private static final int PIECE_BYTES = 4 << 20;
    private static final int MOST_PIECES = 128;

    /** What happens while a measuring process runs. */
    enum Event {
        /** Nothing. */
        NONE,
        /** The application ends as soon as measuring has begun. */
        SHORT_LIFE,
        /** The application is killed at once. */
        KILLED,
        /** The application takes memory until too little is left for both processes. */
        GREEDY
    }

    private static final CountDownLatch EVENT = new CountDownLatch(1);
    private static final List<ByteBuffer> TAKEN = new ArrayList<>();

    private Application() {}

    public static void main(String[] args) throws Exception {
        Path file = Path.of(args[0]);
        String profile = args[1];
        Event event = Event.valueOf(args[2]);
        logger.info("the application started");
        Thread watcher = new Thread(() -> watch(file, event), "watcher");
        watcher.setDaemon(true);
        watcher.start();
        Criteria<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optModelPath(file)
                        .optEngine("TFLite")
                        .optTranslatorFactory(new PlannedTranslatorFactory())
                        .optArgument("memplan.threads", "1")
                        .optArgument("delegation.profile", profile + ":500ms")
                        .build();
        try (ZooModel<NDList, NDList> model = criteria.loadModel()) {
            if (event == Event.SHORT_LIFE && choice(model).origin() == Origin.UNVERIFIED) {
                boolean unused = EVENT.await(PATIENCE_MINUTES, TimeUnit.MINUTES);
            }
            DelegationReport choice = choice(model);
            System.out.println(
                    "choice " + choice.origin() + " " + (choice.delegatedOperators() > 0));
            logger.info("the application ends: {}", choice.reason());
            // Like a service that is asked to end, this does not close models.
            System.exit(0);
        }
    }

    private static DelegationReport choice(ZooModel<NDList, NDList> model) {
        return PlanReport.of(model).flatMap(PlanReport::delegation).orElseThrow();
    }

    /** Polls, because it runs in packages without the tests' classes. */
    private static void watch(Path file, Event event) {
        try {
            ProcessHandle child = awaitChild();
            switch (event) {
                case NONE -> {}
                case SHORT_LIFE -> {
                    awaitMark(file);
                    EVENT.countDown();
                }
                case KILLED -> awaitMarkAndKill(file);
                case GREEDY -> {
                    awaitEndedFirst(child);
                    takeMemoryBeside(child);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for the measuring process, prints its command line and environment, and returns it. */
    private static ProcessHandle awaitChild() throws InterruptedException {
        while (true) {
            Optional<ProcessHandle> child = ProcessHandle.current().children().findFirst();
            if (child.isPresent()) {
                Path process = Path.of("/proc", Long.toString(child.get().pid()));
                String command = text(process.resolve("cmdline"));
                // Until then it still is a copy of this process, perhaps an incomplete one.
                if (command.contains("MeasuringProcess")
                        && !command.contains(Application.class.getName())) {
                    System.out.println("child " + command + text(process.resolve("environ")));
                    return child.get();
                }
            }
            Thread.sleep(1);
        }
    }

    /** Returns the file's content on one line; empty for a process that has ended. */
    private static String text(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.UTF_8)
                    .replace('\0', ' ')
                    .replace('\n', ' ');
        } catch (IOException e) {
            return "";
        }
    }

    private static boolean isMarked(Path file) throws IOException {
        Path folder = file.resolveSibling(".djlplan");
        if (!Files.isDirectory(folder)) {
            return false;
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.anyMatch(f -> f.toString().endsWith(".measuring.json"));
        }
    }

    private static void awaitMark(Path file) throws IOException, InterruptedException {
        while (!isMarked(file)) {
            Thread.sleep(5);
        }
    }

    private static void awaitMarkAndKill(Path file) throws IOException, InterruptedException {
        awaitMark(file);
        Process unused =
                new ProcessBuilder("kill", "-9", Long.toString(ProcessHandle.current().pid()))
                        .start();
    }

    /** Shortly after its start, the child asks the system to kill it before this process. */
    private static void awaitEndedFirst(ProcessHandle child) throws InterruptedException {
        Path score = Path.of("/proc", Long.toString(child.pid()), "oom_score_adj");
        while (child.isAlive() && !text(score).contains("1000")) {
            Thread.sleep(1);
        }
    }

    private static void takeMemoryBeside(ProcessHandle child) throws InterruptedException {
        for (int i = 0; i < MOST_PIECES && child.isAlive(); i++) {
            ByteBuffer piece = ByteBuffer.allocateDirect(PIECE_BYTES);
            for (int at = 0; at < PIECE_BYTES; at += 1024) {
                piece.put(at, (byte) 1);
            }
            TAKEN.add(piece);
            Thread.sleep(5);
        }
    }
}
