package org.djlplan.memplan.cli;

import com.google.common.collect.ImmutableList;
import java.util.Map;
import java.util.TreeMap;
import org.djlplan.memplan.child.JavaCommand;

/**
 * How a child's JVM is started: as this one, but with a heap that does not grow while measuring.
 */
final class WorkerJvm {

    /** Fixed and touched at the start, so that garbage collection never shows in memory figures. */
    private static final ImmutableList<String> QUIET =
            ImmutableList.of(
                    "-Xms128m",
                    "-Xmx1g",
                    "-XX:+AlwaysPreTouch",
                    "-XX:+UseSerialGC",
                    "-XX:+DisplayVMOutputToStderr");

    /**
     * The optimizing compiler takes 5 MB now and then, which would be seen beside an arena of 10;
     * on PyTorch there is little Java code to optimize.
     */
    private static final String NO_OPTIMIZING_COMPILER = "-XX:TieredStopAtLevel=1";

    private WorkerJvm() {}

    /** Returns the command line up to and including the class path. */
    static ImmutableList<String> command(RunOptions options) {
        Map<String, String> properties = new TreeMap<>();
        properties.put("ai.djl.offline", "true");
        if (options.engine() == EngineKind.PYTORCH && options.threads().isPresent()) {
            // The same for stock and planned; DJL sets no threads of single models.
            String threads = Integer.toString(options.threads().getAsInt());
            properties.put("ai.djl.pytorch.num_threads", threads);
            properties.put("ai.djl.pytorch.num_interop_threads", "1");
        }
        ImmutableList.Builder<String> flags = ImmutableList.<String>builder().addAll(QUIET);
        if (options.engine() == EngineKind.PYTORCH) {
            flags.add(NO_OPTIMIZING_COMPILER);
        }
        return JavaCommand.of(
                JavaCommand.ofThisJvm(),
                flags.build(),
                properties,
                System.getProperty("java.class.path"));
    }
}
