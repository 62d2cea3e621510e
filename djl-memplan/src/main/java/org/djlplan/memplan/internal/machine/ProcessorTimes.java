package org.djlplan.memplan.internal.machine;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.djlplan.thirdparty.guava.base.Splitter;

/**
 * The busy time of the processors that this process may use, and of this process, as counted by
 * Linux in hundredths of a second. A reading takes about ten microseconds, on large machines up to
 * a millisecond.
 */
public final class ProcessorTimes {

    private static final long TICK_NANOS = 10_000_000;
    private static final Splitter SPACES = Splitter.on(' ').omitEmptyStrings();

    /**
     * Fields of a line of {@code /proc/stat}: user, nice, system, idle, iowait, irq, softirq,
     * steal.
     */
    private static final int FIELDS = 8;

    private static final int IDLE = 3;
    private static final int IO_WAIT = 4;

    /** Index of this field in {@code /proc/self/stat}, after the name. */
    private static final int USER = 11;

    private static final int SYSTEM = 12;

    private final Path root;
    private Optional<BitSet> allowed = Optional.empty();

    /**
     * The counters at one moment.
     *
     * @param busyNanos how long the processors that this process may use ran anything of any
     *     priority, or were stolen by another virtual machine; the sum over these processors
     * @param ownNanos how long threads of this process ran, in total
     * @param processors number of processors that this process may use, regardless of a container's
     *     quota
     */
    public record Reading(long busyNanos, long ownNanos, int processors) {}

    /** Reads the times of this process. */
    public ProcessorTimes() {
        this(Path.of("/"));
    }

    /**
     * Reads files under another root, for tests.
     *
     * @param root folder that contains {@code proc}
     */
    public ProcessorTimes(Path root) {
        this.root = root;
    }

    /** Returns the system's counters; empty if they are not available. Not thread-safe. */
    public Optional<Reading> read() {
        try {
            if (allowed.isEmpty()) {
                allowed = Optional.of(allowedProcessors());
            }
            return read(allowed.get());
        } catch (IOException | RuntimeException e) {
            return Optional.empty();
        }
    }

    private Optional<Reading> read(BitSet processors) throws IOException {
        long busy = 0;
        long total = 0;
        int found = 0;
        try (BufferedReader lines = lines("proc/stat")) {
            for (String line = lines.readLine();
                    line != null && line.startsWith("cpu");
                    line = lines.readLine()) {
                // The first line is the sum of all processors.
                OptionalInt processor = number(line);
                if (processor.isPresent() && processors.get(processor.getAsInt())) {
                    found++;
                    List<String> fields = SPACES.splitToList(line);
                    for (int i = 0; i < FIELDS; i++) {
                        long ticks = Long.parseLong(fields.get(i + 1));
                        total += ticks;
                        busy += i == IDLE || i == IO_WAIT ? 0 : ticks;
                    }
                }
            }
        }
        // Some sandboxes have the file but count nothing.
        return total == 0
                ? Optional.empty()
                : Optional.of(new Reading(busy * TICK_NANOS, ownTicks() * TICK_NANOS, found));
    }

    private static OptionalInt number(String line) {
        String digits = line.substring("cpu".length(), line.indexOf(' '));
        return digits.isEmpty() ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(digits));
    }

    private long ownTicks() throws IOException {
        try (BufferedReader lines = lines("proc/self/stat")) {
            String line = lines.readLine();
            // The name may have spaces and parentheses.
            List<String> fields = SPACES.splitToList(line.substring(line.lastIndexOf(')') + 1));
            return Long.parseLong(fields.get(USER)) + Long.parseLong(fields.get(SYSTEM));
        }
    }

    /** Such as {@code 0-3,8}. */
    private BitSet allowedProcessors() throws IOException {
        String key = "Cpus_allowed_list:";
        try (BufferedReader lines = lines("proc/self/status")) {
            String line = lines.readLine();
            while (!line.startsWith(key)) {
                line = lines.readLine();
            }
            BitSet processors = new BitSet();
            for (String range :
                    Splitter.on(',').trimResults().split(line.substring(key.length()))) {
                List<String> ends = Splitter.on('-').splitToList(range);
                processors.set(
                        Integer.parseInt(ends.get(0)),
                        Integer.parseInt(ends.get(ends.size() - 1)) + 1);
            }
            return processors;
        }
    }

    private BufferedReader lines(String file) throws IOException {
        // Names of threads may be in any encoding, and are not read.
        return Files.newBufferedReader(root.resolve(file), StandardCharsets.ISO_8859_1);
    }
}
