package org.djlplan.memplan.internal.runtime;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A low-priority process of this machine: sets its priority, and reads how much processor time it
 * used and how long it waited for processors. A figure that Linux does not report is 0. Not
 * thread-safe.
 */
public final class GuestProcess {

    private static final String END_THIS_ONE_FIRST = "1000";

    /** Names of a JVM's own threads, whose delays do not slow down inferences. */
    private static final Pattern OF_THE_JVM =
            Pattern.compile(
                    "(C1 |C2 |GC |VM"
                            + " |Signal|Referenc|Finaliz|Service|Common|Notific|Monitor|Sweeper).*");

    private final long pid;
    private final Path folder;
    private final Map<String, Boolean> ofTheJvm = new HashMap<>();

    /**
     * @param pid its id
     */
    public GuestProcess(long pid) {
        this.pid = pid;
        this.folder = Path.of("/proc", Long.toString(pid));
    }

    /**
     * Gives its threads, and those that they will start, a low priority.
     *
     * @param nice from 1 to 19, the lowest priority
     */
    public void giveWay(int nice) {
        try {
            NativeLoader.Use use = NativeMemory.use();
            int unused = NativeMemory.djlplan_give_way(Math.toIntExact(pid), nice);
            use.close();
        } catch (UnsupportedPlatformException e) {
            // Without the native library there is nothing to measure either.
            return;
        }
    }

    /** Makes Linux end it before any other process when there is no memory left. */
    public void endFirst() {
        try {
            Files.writeString(folder.resolve("oom_score_adj"), END_THIS_ONE_FIRST);
        } catch (IOException e) {
            // Not on Linux, or it has ended: the system chooses by size.
            return;
        }
    }

    /**
     * The counters of a process at one moment.
     *
     * @param ranNanos processor time of all threads that still exist
     * @param waitedNanos how long each thread was ready to run while another thread ran; the JVM's
     *     own threads are omitted
     */
    public record Times(long ranNanos, Map<String, Long> waitedNanos) {

        public Times {
            waitedNanos = Map.copyOf(waitedNanos);
        }

        /** Returns the longest delay of any thread since then. */
        public long delayedNanos(Times since) {
            return waitedNanos.entrySet().stream()
                    .mapToLong(e -> e.getValue() - since.waitedNanos.getOrDefault(e.getKey(), 0L))
                    .max()
                    .orElse(0);
        }
    }

    private boolean isOfTheJvm(Path thread) throws IOException {
        String id = thread.getFileName().toString();
        Boolean known = ofTheJvm.get(id);
        if (known == null) {
            String name = Files.readString(thread.resolve("comm"), StandardCharsets.ISO_8859_1);
            known = OF_THE_JVM.matcher(name.strip()).matches();
            ofTheJvm.put(id, known);
        }
        return known;
    }

    /** Returns whether a signal has stopped it, as a debugger does. */
    public boolean isStopped() {
        try {
            String status = Files.readString(folder.resolve("status"), StandardCharsets.ISO_8859_1);
            return status.contains("\nState:\tT");
        } catch (IOException e) {
            return false;
        }
    }

    /** Returns the processor times so far. */
    public Times times() {
        long ran = 0;
        Map<String, Long> waited = new HashMap<>();
        try (Stream<Path> threads = Files.list(folder.resolve("task"))) {
            for (Path thread : (Iterable<Path>) threads::iterator) {
                String[] numbers =
                        Files.readString(thread.resolve("schedstat")).strip().split(" ", 3);
                ran += Long.parseLong(numbers[0]);
                if (!isOfTheJvm(thread)) {
                    waited.put(thread.getFileName().toString(), Long.parseLong(numbers[1]));
                }
            }
        } catch (IOException
                | UncheckedIOException
                | NumberFormatException
                | ArrayIndexOutOfBoundsException e) {
            // A thread ended, or Linux was built without these figures: the known ones are enough.
            return new Times(ran, waited);
        }
        return new Times(ran, waited);
    }
}
