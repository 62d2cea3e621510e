package org.djlplan.memplan.internal.runtime;

import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The platforms that djl-plan has a native library for. */
public final class SupportedPlatforms {

    /** All of them, for messages. */
    public static final String NAMES = "Linux on x86_64 and on aarch64";

    private static final Logger logger = LoggerFactory.getLogger(SupportedPlatforms.class);

    private static final Map<String, String> PROCESSORS =
            Map.of("amd64", "x86_64", "x86_64", "x86_64", "aarch64", "aarch64");

    private static final AtomicBoolean WARNED = new AtomicBoolean();

    private SupportedPlatforms() {}

    /** Returns the processor of this platform, {@code x86_64} or {@code aarch64}. */
    public static Optional<String> processor() {
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        return system.startsWith("linux")
                ? Optional.ofNullable(PROCESSORS.get(System.getProperty("os.arch")))
                : Optional.empty();
    }

    /** Returns this platform's name, for messages. */
    public static String here() {
        return System.getProperty("os.name") + " on " + System.getProperty("os.arch");
    }

    /** Warns, once in a process, if this platform is not supported. */
    public static void warnIfUnsupported() {
        if (processor().isEmpty() && !WARNED.getAndSet(true)) {
            logger.warn(
                    "djl-plan plans nothing on {}: it supports {}. Models of engines that DJL"
                            + " brings run as stock",
                    here(),
                    NAMES);
        }
    }
}
