package org.djlplan.memplan.internal.rewrite;

import java.util.List;
import org.djlplan.memplan.internal.rewrite.SampleInputs.Frequent;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * The predictions that an application made at first, with which candidates are measured.
 *
 * @param measured inputs of the most frequent shapes, and how many predictions had them
 * @param shapes number of different shapes that occurred
 */
public record SampledRequests(List<Frequent> measured, int shapes) {

    /** Most shapes that are measured. */
    public static final int MOST_MEASURED = 4;

    public SampledRequests {
        measured = SampleInputs.mostFrequent(measured, MOST_MEASURED);
    }

    /** Returns no requests, for a model whose stored result is looked up. */
    public static SampledRequests none() {
        return new SampledRequests(ImmutableList.of(), 0);
    }

    /** Returns the size of all inputs. */
    public long bytes() {
        return measured.stream().mapToLong(each -> each.inputs().bytes()).sum();
    }
}
