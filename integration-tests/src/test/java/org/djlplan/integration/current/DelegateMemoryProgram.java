package org.djlplan.integration.current;

import java.nio.file.Path;
import org.djlplan.integration.support.Delegated;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.internal.candidates.CandidateInterpreters;
import org.djlplan.memplan.spi.CandidateRunner.Trial;

/**
 * Prints the memory growth of a process with a delegate for all supported operators. Nothing else
 * in this JVM takes or returns memory at the same time.
 */
final class DelegateMemoryProgram {

    private DelegateMemoryProgram() {}

    /**
     * Arguments: a model and a delegate. Prints kernels, outputs' errors, and bytes, a line each.
     */
    public static void main(String[] arguments) throws Exception {
        StockInterpreter.loadEngine();
        try (CandidateInterpreters candidates =
                Served.candidates(Path.of(arguments[0]), arguments[1])) {
            Trial trial = candidates.prepare(Delegated.everything(candidates, 1));
            System.out.println(trial.kernels());
            System.out.println(trial.errors());
            System.out.println(trial.memoryBytes());
        }
    }
}
