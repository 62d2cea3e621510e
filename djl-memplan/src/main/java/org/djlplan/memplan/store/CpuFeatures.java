package org.djlplan.memplan.store;

import static java.util.stream.Collectors.joining;

import com.google.common.hash.Hashing;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;

/** A fingerprint of the CPU: an engine may choose other kernels where it is another. */
public final class CpuFeatures {

    private static final Path LINUX = Path.of("/proc/cpuinfo");

    /** The lines of x86, and those of Arm, where Linux names no model. */
    private static final Set<String> TELLING =
            Set.of("model name", "flags", "Features", "CPU implementer", "CPU part");

    private static final int HASH_DIGITS = 16;

    private CpuFeatures() {}

    /**
     * Returns a short text, equal on equal CPUs: the architecture and, under Linux, a hash of the
     * model and the instruction sets of the first processor. For example {@code
     * amd64-0123456789abcdef}.
     */
    public static String current() {
        return of(System.getProperty("os.arch"), LINUX);
    }

    static String of(String architecture, Path cpuInfo) {
        String telling;
        // Its size is not known in advance and its text of no promised encoding.
        // Files.lines would fail in a thread that is interrupted, and so make another key of it.
        try (BufferedReader reader =
                Files.newBufferedReader(cpuInfo, StandardCharsets.ISO_8859_1)) {
            telling =
                    reader.lines()
                            .takeWhile(line -> !line.isBlank())
                            .filter(line -> TELLING.contains(line.split(":", 2)[0].strip()))
                            .collect(joining("\n"));
        } catch (IOException | UncheckedIOException e) {
            return architecture;
        }
        if (telling.isEmpty()) {
            return architecture;
        }
        String hash = Hashing.sha256().hashString(telling, StandardCharsets.UTF_8).toString();
        return architecture + '-' + hash.substring(0, HASH_DIGITS);
    }
}
