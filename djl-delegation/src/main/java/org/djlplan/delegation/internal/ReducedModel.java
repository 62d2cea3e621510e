package org.djlplan.delegation.internal;

import com.google.common.collect.ImmutableMap;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import org.djlplan.delegation.internal.partition.DelegatedGraph;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.Tolerance;

/**
 * A model whose delegate seems not to support some of its operators. Its facts name these
 * operators, because its measurements are not valid for the model with other exclusions.
 */
final class ReducedModel implements DelegableModel {

    /** The fact that lists the operators, by their indices in the file. */
    static final String EXCLUDED = "exclude";

    private final DelegableModel inner;
    private final Graph graph;
    private final SortedSet<Integer> excluded;

    private ReducedModel(DelegableModel inner, SortedSet<Integer> excluded) {
        this.inner = inner;
        this.graph = inner.graph();
        this.excluded = excluded;
    }

    /** Returns a model without some operators; the model itself if there are none. */
    static DelegableModel of(DelegableModel model, SortedSet<Integer> excluded) {
        return excluded.isEmpty() ? model : new ReducedModel(model, excluded);
    }

    private List<Set<Integer>> reduced(List<Set<Integer>> partitions) {
        return DelegatedGraph.partitionsWithout(graph, partitions, excluded);
    }

    @Override
    public Map<String, String> facts() {
        return ImmutableMap.<String, String>builder()
                .putAll(inner.facts())
                .put(EXCLUDED, Exclusion.text(excluded))
                .buildOrThrow();
    }

    @Override
    public List<Set<Integer>> partitions() throws CandidateException {
        return reduced(inner.partitions());
    }

    @Override
    public CandidateRunner newProcess(Urgency urgency, Tolerance tolerance) throws IOException {
        return new Runner(inner.newProcess(urgency, tolerance));
    }

    @Override
    public Path file() {
        return inner.file();
    }

    @Override
    public Path cacheFolder() {
        return inner.cacheFolder();
    }

    @Override
    public Graph graph() {
        return graph;
    }

    @Override
    public int threads() {
        return inner.threads();
    }

    @Override
    public String delegate() {
        return inner.delegate();
    }

    @Override
    public boolean trusted() {
        return inner.trusted();
    }

    @Override
    public boolean offersTransientBuffers() {
        return inner.offersTransientBuffers();
    }

    @Override
    public Optional<String> obstacle() {
        return inner.obstacle();
    }

    @Override
    public long neededBytes() {
        return inner.neededBytes();
    }

    /** A runner with reduced partitions; everything else is the inner runner's. */
    private final class Runner implements CandidateRunner {

        private final CandidateRunner runner;

        Runner(CandidateRunner runner) {
            this.runner = runner;
        }

        @Override
        public List<Set<Integer>> partitions() throws CandidateException, InterruptedException {
            return reduced(runner.partitions());
        }

        @Override
        public Trial prepare(Candidate candidate) throws CandidateException, InterruptedException {
            return runner.prepare(candidate);
        }

        @Override
        public long[] time(Candidate candidate, int inferences)
                throws CandidateException, InterruptedException {
            return runner.time(candidate, inferences);
        }

        @Override
        public List<NodeTime> profile(Candidate candidate, int inferences)
                throws CandidateException, InterruptedException {
            return runner.profile(candidate, inferences);
        }

        @Override
        public long workedNanos() {
            return runner.workedNanos();
        }

        @Override
        public Optional<String> caveat() {
            return runner.caveat();
        }

        @Override
        public void release(Candidate candidate) {
            runner.release(candidate);
        }

        @Override
        public void close() {
            runner.close();
        }
    }
}
