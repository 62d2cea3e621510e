package org.djlplan.memplan.source.tflite;

import com.google.common.collect.ImmutableList;
import java.util.List;
import java.util.Optional;

/**
 * How the numbers of a tensor stand for real values: scale · (q − zero point).
 *
 * @param min smallest real value, per channel or one for all; empty if unknown, as all lists here
 * @param max largest real value
 * @param scale scale, per channel or one for all
 * @param zeroPoint zero point, per channel or one for all
 * @param details another technique in place of these lists
 * @param quantizedDimension dimension that the channels are counted along
 */
public record TfLiteQuantization(
        List<Float> min,
        List<Float> max,
        List<Float> scale,
        List<Long> zeroPoint,
        Optional<FlatTable> details,
        int quantizedDimension) {

    public TfLiteQuantization {
        min = ImmutableList.copyOf(min);
        max = ImmutableList.copyOf(max);
        scale = ImmutableList.copyOf(scale);
        zeroPoint = ImmutableList.copyOf(zeroPoint);
    }
}
