package org.djlplan.integration.current;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.djlplan.integration.support.Delegated;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.internal.runtime.WorkspacePool;
import org.djlplan.memplan.internal.serving.ServedModel;

/** Serves models in turn, and prints the bytes by which the process grows. */
final class WorkspaceMemoryProgram {

    private static final int RUNS = 3;

    private WorkspaceMemoryProgram() {}

    /**
     * Prints the bytes that models take.
     *
     * @param arguments the delegate, {@code true} or {@code false} for shared workspaces, a small
     *     model to begin with, and the models
     */
    public static void main(String[] arguments) throws Exception {
        StockInterpreter.loadEngine();
        boolean shared = Boolean.parseBoolean(arguments[1]);
        List<Delegated> models = new ArrayList<>();
        for (String file : Arrays.asList(arguments).subList(2, arguments.length)) {
            models.add(Delegated.all(Path.of(file), arguments[0], 1));
        }
        // Code that is loaded once does not count for a model.
        try (ServedModel first = models.get(0).open(shared)) {
            run(first);
        }
        long before = bytes();
        List<ServedModel> open = new ArrayList<>();
        for (Delegated model : models.subList(1, models.size())) {
            open.add(model.open(shared));
        }
        for (int i = 0; i < RUNS; i++) {
            for (ServedModel model : open) {
                run(model);
            }
        }
        System.out.println("bytes " + (bytes() - before));
        open.forEach(ServedModel::close);
    }

    private static void run(ServedModel model) {
        List<ByteBuffer> inputs =
                model.inputs().stream()
                        .map(input -> ByteBuffer.allocate((int) input.bytes()))
                        .toList();
        model.run(inputs, model.inputs().stream().map(input -> input.shape()).toList());
    }

    /** Returns anonymous memory plus the pages of workspaces, each counted once. */
    private static long bytes() {
        ProcessMemory.trim();
        return new ProcessMemory().anonymousBytes().orElseThrow()
                + WorkspacePool.shared().metric().bytes();
    }
}
