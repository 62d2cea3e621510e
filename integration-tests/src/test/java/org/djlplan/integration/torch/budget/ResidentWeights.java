package org.djlplan.integration.torch.budget;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Samples how much of the weights files is in this process's memory: pages of the files, and copies
 * that are mapped among these pages.
 */
final class ResidentWeights implements AutoCloseable {

    private static final Pattern FILE = Pattern.compile(".*djl-plan/#\\d+ \\(deleted\\)");
    private static final Pattern RANGE = Pattern.compile("([0-9a-f]+)-([0-9a-f]+) .*");
    private static final Pattern RESIDENT = Pattern.compile("Rss: +(\\d+) kB");
    private static final int HEX = 16;
    private static final long EVERY_MILLIS = 5;

    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();
    private volatile long mostBytes;

    private ResidentWeights() {}

    /** Starts sampling, which continues until this is closed. */
    static ResidentWeights watch() {
        ResidentWeights weights = new ResidentWeights();
        var unused =
                weights.thread.scheduleWithFixedDelay(weights::look, 0, EVERY_MILLIS, MILLISECONDS);
        return weights;
    }

    /** Returns the number of this process's mappings of files with weights. */
    static long mappings() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> FILE.matcher(line).matches()).count();
        }
    }

    /**
     * Takes two samples and uses the smaller one. The system counts page by page: if it is
     * interrupted, it counts both pages that are dropped in that time and pages that replace them.
     * That hardly happens twice in a row.
     */
    private void look() {
        try {
            mostBytes = Math.max(mostBytes, Math.min(residentBytes(), residentBytes()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Returns the bytes that are in memory now. A copy lies between two parts of the file, or next
     * to one.
     */
    static long residentBytes() throws IOException {
        long bytes = 0;
        long pending = 0;
        boolean inFile = false;
        long end = 0;
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps"))) {
            Matcher range = RANGE.matcher(line);
            Matcher resident = RESIDENT.matcher(line);
            if (range.matches()) {
                boolean file = FILE.matcher(line).matches();
                boolean adjoins = Long.parseUnsignedLong(range.group(1), HEX) == end;
                if (file && adjoins) {
                    bytes += pending;
                }
                pending = file || !adjoins ? 0 : pending;
                inFile = file;
                end = Long.parseUnsignedLong(range.group(2), HEX);
            } else if (resident.matches()) {
                long here = Long.parseLong(resident.group(1)) * 1024;
                bytes += inFile ? here : 0;
                pending += inFile ? 0 : here;
            }
        }
        return bytes;
    }

    /** Returns the largest sample. */
    long mostBytes() {
        look();
        return mostBytes;
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
