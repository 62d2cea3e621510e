package org.djlplan.memplan.internal.machine;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.hash.Hashing;

/** Computes a fingerprint of the CPU, because engines may choose other kernels on another CPU. */
public final class CpuFeatures {

    private static final Path LINUX = Path.of("/proc/cpuinfo");

    /** The relevant lines on x86, and on Arm, where Linux does not show the model. */
    private static final Set<String> TELLING =
            Set.of("model name", "flags", "Features", "CPU implementer", "CPU part");

    private static final int HASH_DIGITS = 16;

    private CpuFeatures() {}

    /**
     * Returns a short text that is equal on equal CPUs: the architecture and, on Linux, a hash of
     * the first processor's model and instruction sets. For example {@code amd64-0123456789abcdef}.
     */
    public static String current() {
        return of(System.getProperty("os.arch"), LINUX);
    }

    /** Returns whether the first processor has an instruction set, such as {@code avx2}. */
    public static boolean has(String feature) {
        return has(feature, LINUX);
    }

    static boolean has(String feature, Path cpuInfo) {
        return describe(cpuInfo).stream()
                .anyMatch(line -> Splitter.on(' ').splitToList(line).contains(feature));
    }

    static String of(String architecture, Path cpuInfo) {
        List<String> telling = describe(cpuInfo);
        if (telling.isEmpty()) {
            return architecture;
        }
        String text = String.join("\n", telling);
        String hash = Hashing.sha256().hashString(text, StandardCharsets.UTF_8).toString();
        return architecture + '-' + hash.substring(0, HASH_DIGITS);
    }

    /** Returns the relevant lines about the first processor; none if the file cannot be read. */
    private static List<String> describe(Path cpuInfo) {
        List<String> telling = new ArrayList<>();
        // The file's size is not known in advance, and its encoding is unspecified. Files.lines
        // would fail in an interrupted thread, which would result in another key.
        try (BufferedReader reader =
                Files.newBufferedReader(cpuInfo, StandardCharsets.ISO_8859_1)) {
            for (String line = reader.readLine();
                    line != null && !line.isBlank();
                    line = reader.readLine()) {
                if (TELLING.contains(line.split(":", 2)[0].strip())) {
                    telling.add(line);
                }
            }
        } catch (IOException e) {
            return List.of();
        }
        return telling;
    }
}
