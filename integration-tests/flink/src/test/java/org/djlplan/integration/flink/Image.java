package org.djlplan.integration.flink;

import java.util.Random;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.java.tuple.Tuple2;

/** Generates the image for a number. */
public class Image implements MapFunction<Long, Tuple2<Long, float[]>> {

    private static final long serialVersionUID = 1;

    private static final int VALUES = 224 * 224 * 3;

    @Override
    public Tuple2<Long, float[]> map(Long number) {
        return Tuple2.of(number, of(number));
    }

    static float[] of(long number) {
        Random random = new Random(number);
        float[] image = new float[VALUES];
        for (int i = 0; i < VALUES; i++) {
            image[i] = random.nextFloat();
        }
        return image;
    }

    /** Recovers the number from an image. */
    public static class NumberOf implements MapFunction<Tuple2<Long, float[]>, Long> {

        private static final long serialVersionUID = 1;

        @Override
        public Long map(Tuple2<Long, float[]> image) {
            return image.f0;
        }
    }
}
