package org.djlplan.memplan.internal.measure;

import java.nio.file.Path;
import org.djlplan.memplan.internal.runtime.tflite.Delegates;
import org.djlplan.memplan.spi.CandidateRunner;

/** The request to a measuring process to open a model. */
sealed interface ModelRequest permits OpenModelRequest, TorchModelRequest {

    /** Returns the model's file. */
    Path file();

    /** Returns the value of {@code delegation.delegate}; its default for other engines. */
    default String delegate() {
        return Delegates.XNNPACK;
    }

    /** Returns whether the process loads DJL and its PyTorch engine. */
    default boolean usesDjl() {
        return false;
    }

    /**
     * Returns the priority of a process in the background, as Linux's nice value: 19 leaves it a
     * fiftieth of a core that it shares with a busy thread, 10 a tenth.
     */
    int niceness();

    /** Returns the memory that the process needs. */
    MemoryNeed need();

    /** Returns the limit of the process's Java heap, in bytes. */
    default long mostHeapBytes() {
        return need().heapBytes();
    }

    /**
     * Opens the model in this process.
     *
     * @throws Exception if it cannot be opened; the message says why
     */
    CandidateRunner open() throws Exception;
}
