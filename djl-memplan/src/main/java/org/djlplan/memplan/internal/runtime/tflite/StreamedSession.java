package org.djlplan.memplan.internal.runtime.tflite;

import java.nio.file.Path;
import java.util.List;
import org.djlplan.memplan.internal.budget.Schedule;
import org.djlplan.memplan.internal.runtime.WeightStream;

/** A session whose constants are loaded while it runs. Not thread-safe. */
interface StreamedSession extends EngineSession {

    /**
     * A tensor that a kernel derives from a constant in its first inference. After that inference,
     * the kernel reads this tensor instead of the constant.
     *
     * @param step the kernel's position in execution order
     */
    record Derived(int step, int tensor, int constant) {}

    /** Returns what kernels derive; known once the session is allocated. */
    List<Derived> derived();

    /**
     * Sets the places of constants.
     *
     * @param stream has taken the same schedule
     * @return whether they fit the engine's needs
     */
    boolean bind(WeightStream stream, Schedule schedule);

    /**
     * Runs once in the stream's arena.
     *
     * @return whether the plan still fitted; if not, nothing ran
     * @throws IllegalStateException if weights cannot be read or the engine fails
     */
    boolean invokeStreamed();

    /**
     * Runs once, and writes each derived tensor into a file.
     *
     * @param offsets offsets in the file, in the order of {@link #derived}
     * @throws IllegalStateException if it cannot be written, weights cannot be read, or the engine
     *     fails
     */
    void invokeCapturing(Path file, long[] offsets);
}
