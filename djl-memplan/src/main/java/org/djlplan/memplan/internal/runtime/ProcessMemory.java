package org.djlplan.memplan.internal.runtime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.djlplan.memplan.internal.machine.SystemFile;

/**
 * Reads memory figures of a process from Linux's {@code /proc}. All are empty on other systems, or
 * if this process may not read them.
 */
public final class ProcessMemory {

    /** Makes Linux reset the high-water mark to the current resident set. */
    private static final String RESET_HIGH_WATER_MARK = "5";

    /** Minor faults are field 10 of {@code stat}; the first two end with the command's name. */
    private static final int MINOR_FAULTS_AFTER_NAME = 10 - 3;

    private static final Pattern SPACES = Pattern.compile("\\s+");

    private static final String RESIDENT = "Rss:";

    /** Addresses, permissions, offset, device and inode. */
    private static final Pattern MAPPING =
            Pattern.compile("\\p{XDigit}+-\\p{XDigit}+ ..(.). \\p{XDigit}+ \\S+ (\\d+)\\s*(.*)");

    private static final Pattern LIBRARY = Pattern.compile(".*\\.so(\\.[\\d.]+)?");

    private final Path folder;

    /** This process. */
    public ProcessMemory() {
        this(Path.of("/proc/self"));
    }

    /** Returns the figures of another process. */
    public static ProcessMemory of(long processId) {
        return new ProcessMemory(Path.of("/proc").resolve(Long.toString(processId)));
    }

    ProcessMemory(Path folder) {
        this.folder = folder;
    }

    /** Returns the bytes of the process that are in memory now. */
    public OptionalLong residentBytes() {
        return status("VmRSS:");
    }

    /**
     * Returns the bytes in memory that belong to no file: heaps and arenas. Unlike pages of a
     * mapped file, the system cannot take them back.
     */
    public OptionalLong anonymousBytes() {
        return status("RssAnon:");
    }

    /**
     * Resident pages by the kind of their mapping.
     *
     * @param fileBytes bytes of files: libraries, mapped models
     * @param libraryBytes the part of {@code fileBytes} that belongs to libraries
     * @param codeBytes bytes of code that was generated at run time
     */
    public record Mappings(long fileBytes, long libraryBytes, long codeBytes) {}

    /** Returns the mappings of the process. Takes milliseconds, because there may be thousands. */
    public Optional<Mappings> mappings() {
        long files = 0;
        long libraries = 0;
        long code = 0;
        boolean ofFile = false;
        boolean ofLibrary = false;
        boolean executable = false;
        try {
            for (String line : SystemFile.lines(folder.resolve("smaps"))) {
                Matcher header = MAPPING.matcher(line);
                if (header.matches()) {
                    ofFile = !header.group(2).equals("0");
                    ofLibrary = LIBRARY.matcher(header.group(3)).matches();
                    executable = header.group(1).equals("x");
                } else if (line.startsWith(RESIDENT)) {
                    long bytes = kibibytes(line.substring(RESIDENT.length()));
                    files += ofFile ? bytes : 0;
                    libraries += ofLibrary ? bytes : 0;
                    code += !ofFile && executable ? bytes : 0;
                }
            }
            return Optional.of(new Mappings(files, libraries, code));
        } catch (IOException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /**
     * Returns to the system the memory that this process freed but the C library keeps, so that two
     * figures of its memory can be compared.
     */
    public static void trim() {
        try {
            NativeLoader.Use use = NativeMemory.use();
            NativeMemory.djlplan_trim();
            use.close();
        } catch (UnsupportedPlatformException e) {
            // Without the native library nothing is measured either.
            return;
        }
    }

    /**
     * Allocations of the C library.
     *
     * @param takenBytes bytes taken from the system, in use or kept for later
     * @param usedBytes the part of {@code takenBytes} that is in use
     */
    public record NativeHeap(long takenBytes, long usedBytes) {}

    /**
     * Returns the memory that native code of this process has allocated from the C library, without
     * the JVM's heap. Empty if the C library does not report it.
     */
    public static Optional<NativeHeap> nativeHeap() {
        long[] taken = new long[1];
        long[] used = new long[1];
        try {
            NativeLoader.Use use = NativeMemory.use();
            boolean told = NativeMemory.djlplan_heap(taken, used) != 0;
            use.close();
            return told ? Optional.of(new NativeHeap(taken[0], used[0])) : Optional.empty();
        } catch (UnsupportedPlatformException e) {
            return Optional.empty();
        }
    }

    /** Returns the most bytes that were in memory at once since {@link #resetPeak()}. */
    public OptionalLong peakBytes() {
        return status("VmHWM:");
    }

    /** Makes the peak start again; returns whether that was possible. */
    public boolean resetPeak() {
        Path file = folder.resolve("clear_refs");
        if (!Files.isWritable(file)) {
            return false;
        }
        try {
            Files.writeString(file, RESET_HIGH_WATER_MARK);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** Returns the number of page faults, of all threads, that needed no reading from disk. */
    public OptionalLong minorFaults() {
        try {
            String stat = SystemFile.text(folder.resolve("stat"));
            // The name is in parentheses and may itself hold parentheses and spaces.
            String afterName = stat.substring(stat.lastIndexOf(')') + 1).strip();
            List<String> fields = SPACES.splitAsStream(afterName).toList();
            return OptionalLong.of(Long.parseLong(fields.get(MINOR_FAULTS_AFTER_NAME)));
        } catch (IOException | NumberFormatException | IndexOutOfBoundsException e) {
            return OptionalLong.empty();
        }
    }

    private OptionalLong status(String key) {
        try {
            for (String line : SystemFile.lines(folder.resolve("status"))) {
                if (line.startsWith(key)) {
                    return OptionalLong.of(kibibytes(line.substring(key.length())));
                }
            }
            return OptionalLong.empty();
        } catch (IOException | IllegalArgumentException e) {
            return OptionalLong.empty();
        }
    }

    private static long kibibytes(String text) {
        String trimmed = text.strip();
        if (!trimmed.endsWith(" kB")) {
            throw new IllegalArgumentException("not in kB: " + text);
        }
        return Long.parseLong(trimmed.substring(0, trimmed.length() - 3).strip()) * 1024;
    }
}
