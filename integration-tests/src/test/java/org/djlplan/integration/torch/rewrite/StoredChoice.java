package org.djlplan.integration.torch.rewrite;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.engine.Engine;
import ai.djl.pytorch.jni.JniUtils;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.delegation.internal.DelegationOptions;
import org.djlplan.delegation.internal.Tuning;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.measure.TorchDelegableModel;
import org.djlplan.memplan.internal.rewrite.SampledRequests;
import org.djlplan.memplan.internal.store.CacheFolder;
import org.djlplan.memplan.internal.store.FileIdentity;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.Tolerance;

/** Stores a choice for a TorchScript file as if it had been measured. */
public final class StoredChoice {

    private StoredChoice() {}

    /** Stores the choice of a recipe, with which later loads on as many threads begin. */
    public static void of(Path file, String recipe) throws IOException, InterruptedException {
        Engine engine = Engine.getEngine("PyTorch");
        TorchDelegableModel model =
                new TorchDelegableModel(
                        file,
                        FileIdentity.text(file),
                        CacheFolder.get(),
                        JniUtils.getNumThreads(),
                        engine.getVersion(),
                        SampledRequests.none());
        assertTrue(
                Tuning.of(
                                new FakeModel(model, recipe),
                                DelegationOptions.parse(Map.of()),
                                Optional.empty())
                        .measure(table -> true)
                        .isPresent());
    }

    /** A model of which one recipe seems to be the fastest. */
    private record FakeModel(TorchDelegableModel model, String fastest) implements DelegableModel {

        @Override
        public Path file() {
            return model.file();
        }

        @Override
        public String identity() {
            return model.identity();
        }

        @Override
        public Path cacheFolder() {
            return model.cacheFolder();
        }

        @Override
        public Graph graph() {
            return model.graph();
        }

        @Override
        public List<String> recipes() {
            return model.recipes();
        }

        @Override
        public int threads() {
            return model.threads();
        }

        @Override
        public String delegate() {
            return model.delegate();
        }

        @Override
        public Map<String, String> facts() {
            return model.facts();
        }

        @Override
        public Optional<String> obstacle() {
            return Optional.empty();
        }

        @Override
        public long neededBytes() {
            return 0;
        }

        @Override
        public CandidateRunner newProcess(Urgency urgency, Tolerance tolerance) {
            return new FakeRunner(fastest);
        }
    }

    private record FakeRunner(String fastest) implements CandidateRunner {

        private static final long FAST_NANOS = 1_000_000;

        @Override
        public Trial prepare(Candidate candidate) {
            return new Trial(0, List.of(), 1 << 20, 1);
        }

        @Override
        public long[] time(Candidate candidate, int inferences) {
            long[] nanos = new long[inferences];
            Arrays.fill(nanos, candidate.recipe().equals(fastest) ? FAST_NANOS : 2 * FAST_NANOS);
            return nanos;
        }

        @Override
        public void release(Candidate candidate) {}

        @Override
        public void close() {}
    }
}
