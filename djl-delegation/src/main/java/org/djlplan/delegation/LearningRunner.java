package org.djlplan.delegation;

import com.google.common.collect.ArrayListMultimap;
import com.google.common.collect.ListMultimap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.djlplan.delegation.store.LearntCostsStore;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.NodeTime;
import org.djlplan.memplan.spi.Trial;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A runner that keeps what operators cost, for predictions of models that were never run on this
 * machine.
 */
final class LearningRunner implements CandidateRunner {

    private static final Logger logger = LoggerFactory.getLogger(LearningRunner.class);

    private final CandidateRunner inner;
    private final DelegableModel model;
    private final ListMultimap<Integer, NodeTime> learnt = ArrayListMultimap.create();

    /**
     * @param inner runs the candidates; closed with this
     * @param model what it runs candidates of
     */
    LearningRunner(CandidateRunner inner, DelegableModel model) {
        this.inner = inner;
        this.model = model;
    }

    @Override
    public List<Set<Integer>> partitions() throws CandidateException, InterruptedException {
        try {
            return inner.partitions();
        } catch (CandidateException e) {
            logger.warn("{}: the delegate cannot be asked: {}", model.file(), e.getMessage());
            throw e;
        }
    }

    @Override
    public Trial prepare(Candidate candidate) throws CandidateException, InterruptedException {
        return inner.prepare(candidate);
    }

    @Override
    public long[] time(Candidate candidate, int inferences)
            throws CandidateException, InterruptedException {
        return inner.time(candidate, inferences);
    }

    @Override
    public List<NodeTime> profile(Candidate candidate, int inferences)
            throws CandidateException, InterruptedException {
        List<NodeTime> nodes = inner.profile(candidate, inferences);
        learnt.putAll(candidate.threads(), nodes);
        return nodes;
    }

    @Override
    public long workedNanos() {
        return inner.workedNanos();
    }

    @Override
    public Optional<String> caveat() {
        return inner.caveat();
    }

    @Override
    public void release(Candidate candidate) {
        inner.release(candidate);
    }

    /** Keeps what was learnt. */
    void keep() {
        learnt.asMap()
                .forEach(
                        (threads, nodes) ->
                                LearntCostsStore.learn(model, List.copyOf(nodes), threads));
    }

    @Override
    public void close() {
        inner.close();
    }
}
