package org.djlplan.delegation.internal.profile;

import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;

/** The true times of an invented model. */
interface Truth {

    Graph graph();

    /** What the delegate reports. */
    List<SortedSet<Integer>> partitions();

    /** What each node of a candidate takes. */
    List<NodeTime> nodes(Candidate candidate);

    /** What a candidate takes of memory. */
    long bytes(Candidate candidate);

    /** What an inference takes. */
    default double nanos(Candidate candidate) {
        return nodes(candidate).stream().mapToLong(NodeTime::nanos).sum();
    }

    /** How many delegate kernels a candidate becomes. */
    default int kernels(Candidate candidate) {
        return (int) nodes(candidate).stream().filter(NodeTime::delegated).count();
    }

    /** The candidate that delegates some partitions. */
    default Candidate union(Set<Integer> chosen) {
        SortedSet<Integer> operators = new TreeSet<>();
        chosen.forEach(p -> operators.addAll(partitions().get(p)));
        return new Candidate(operators, 1);
    }
}
