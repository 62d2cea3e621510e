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

    /** Returns the partitions that the delegate reports. */
    List<SortedSet<Integer>> partitions();

    /** Returns the time of each node of a candidate. */
    List<NodeTime> nodes(Candidate candidate);

    /** Returns the bytes of memory that a candidate takes. */
    long bytes(Candidate candidate);

    /** Returns the time of an inference. */
    default double nanos(Candidate candidate) {
        return nodes(candidate).stream().mapToLong(NodeTime::nanos).sum();
    }

    /** Returns the number of a candidate's delegate kernels. */
    default int kernels(Candidate candidate) {
        return (int) nodes(candidate).stream().filter(NodeTime::delegated).count();
    }

    /** Returns the candidate that delegates some partitions. */
    default Candidate union(Set<Integer> chosen) {
        SortedSet<Integer> operators = new TreeSet<>();
        chosen.forEach(p -> operators.addAll(partitions().get(p)));
        return new Candidate(operators, 1);
    }
}
