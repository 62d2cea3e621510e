package org.djlplan.memplan.internal.rewrite;

import java.util.List;
import java.util.stream.Stream;
import org.djlplan.memplan.internal.rewrite.SampleInputs.Frequent;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * The predictions that an application made at first, with which candidates are measured.
 *
 * @param measured inputs of the most frequent shapes, and how many predictions had them
 * @param compared inputs of all predictions, with which weights of a lower precision are judged;
 *     empty if the user does not permit one
 */
public record SampledRequests(List<Frequent> measured, List<SampleInputs> compared) {

    /** A lower precision is judged with at least as many predictions. */
    public static final int LEAST_COMPARED = 32;

    /** Most shapes that are measured. */
    public static final int MOST_MEASURED = 4;

    public SampledRequests {
        measured = SampleInputs.mostFrequent(measured, MOST_MEASURED);
        compared = ImmutableList.copyOf(compared);
    }

    /** Creates requests for recipes at the model's precision. */
    public SampledRequests(List<Frequent> measured) {
        this(measured, ImmutableList.of());
    }

    /** Returns no requests, for a model whose stored result is looked up. */
    public static SampledRequests none() {
        return new SampledRequests(ImmutableList.of());
    }

    /** Returns the size of all inputs. */
    public long bytes() {
        return Stream.concat(measured.stream().map(Frequent::inputs), compared.stream())
                .mapToLong(SampleInputs::bytes)
                .sum();
    }
}
