package org.djlplan.memplan.internal.measure;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.rewrite.Recipe;
import org.djlplan.memplan.internal.rewrite.SampledRequests;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * A TorchScript model whose rewrites can be measured in a child process.
 *
 * @param file the model's file
 * @param identity of the file that was loaded
 * @param cacheFolder the folder for files that cannot be stored next to the model
 * @param threads the engine's threads for each operator
 * @param libtorch version of the engine's native library
 * @param requests predictions of the application; none if only a stored result is looked up
 */
public record TorchDelegableModel(
        Path file,
        String identity,
        Path cacheFolder,
        int threads,
        String libtorch,
        SampledRequests requests)
        implements DelegableModel {

    /** The name of the engine, in place of a delegate's. */
    public static final String ENGINE = "PyTorch";

    /** Changes when earlier measurements are not comparable with new ones. */
    private static final String METHOD = "1";

    /** Returns the same model with other requests to measure it. */
    public TorchDelegableModel with(SampledRequests others) {
        return new TorchDelegableModel(file, identity, cacheFolder, threads, libtorch, others);
    }

    @Override
    public Graph graph() {
        return new Graph(file.getFileName().toString(), List.of(), List.of(), List.of(), List.of());
    }

    @Override
    public List<String> recipes() {
        return Recipe.all().stream().map(Recipe::name).toList();
    }

    @Override
    public List<String> precisions() {
        return Recipe.lower().stream().map(Recipe::name).toList();
    }

    @Override
    public String delegate() {
        return ENGINE;
    }

    @Override
    public Map<String, String> facts() {
        return ImmutableMap.of("engine", ENGINE, "native", libtorch, "measuring", METHOD);
    }

    @Override
    public Optional<String> obstacle() {
        return requests.measured().isEmpty()
                ? Optional.of("no inputs are known with which it could be measured")
                : ProcessRunner.obstacle();
    }

    @Override
    public long neededBytes() {
        return need().bytes();
    }

    private MemoryNeed need() {
        return MemoryNeed.ofTorchScript(file.toFile().length(), requests.bytes());
    }

    @Override
    public CandidateRunner newProcess(Urgency urgency, Tolerance tolerance) throws IOException {
        return ProcessRunner.start(
                new TorchModelRequest(file, identity, requests, tolerance, threads, need()),
                urgency);
    }
}
