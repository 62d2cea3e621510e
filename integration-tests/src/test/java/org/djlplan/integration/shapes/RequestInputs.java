package org.djlplan.integration.shapes;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;

/** The inputs of requests by their numbers: of what shapes, and how often each shape comes. */
final class RequestInputs {

    /** Numbers of tokens are below this. */
    static final int WORDS = 4096;

    /** All texts of up to 254 tokens. */
    private static final int EVEN_SHAPES = 2000;

    private static final int ZIPF_SHAPES = 200;
    private static final int MOST_ROWS = 8;
    private static final int LEAST_TOKENS = 5;
    private static final int MOST_TOKENS = 256;
    private static final int TILE = 32;
    private static final int LINE_HEIGHT = 32;

    /** Spreads numbers that follow each other, whose first random numbers would be alike. */
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    private final Kind kind;
    private final Distribution distribution;

    /** Up to each rank, of the harmonic series. */
    private final double[] cumulative = new double[ZIPF_SHAPES];

    /** What models read. */
    enum Kind {
        /** 1 to 8 rows of 5 to 256 tokens. */
        TEXT,
        /** A colour image, sides of 96 to 352 in steps of 8. */
        IMAGE,
        /** 1 to 4 colour images, sides of 96 to 352 in steps of 32. */
        BATCH,
        /** A grey image of a line of text, 32 high and 32 to 640 wide. */
        LINE
    }

    /** How often sizes come. */
    enum Distribution {
        LOG_NORMAL,
        UNIFORM,
        /** The r-th of 200 shapes is 1/r times as frequent as the first. */
        ZIPF,
        /** Each of 2,000 shapes of texts as often as the others. */
        EVEN
    }

    RequestInputs(Kind kind, Distribution distribution) {
        this.kind = kind;
        this.distribution = distribution;
        double sum = 0;
        for (int i = 0; i < ZIPF_SHAPES; i++) {
            sum += 1.0 / (i + 1);
            cumulative[i] = sum;
        }
    }

    private static Random random(long number) {
        return new Random(SPREAD * (number + 1));
    }

    NDArray create(NDManager manager, int request) {
        Random random = random(request);
        Shape shape = shape(random);
        int elements = Math.toIntExact(shape.size());
        if (kind == Kind.TEXT) {
            return manager.create(random.longs(elements, 0, WORDS).toArray(), shape);
        }
        float[] values = new float[elements];
        IntStream.range(0, elements).forEach(i -> values[i] = random.nextFloat());
        return manager.create(values, shape);
    }

    private Shape shape(Random random) {
        return switch (distribution) {
            case LOG_NORMAL, UNIFORM -> drawn(random);
            case ZIPF -> drawn(random(rank(random)));
            case EVEN -> {
                int number = random.nextInt(EVEN_SHAPES);
                yield new Shape(1 + number % MOST_ROWS, LEAST_TOKENS + number / MOST_ROWS);
            }
        };
    }

    private int rank(Random random) {
        double at = random.nextDouble() * cumulative[ZIPF_SHAPES - 1];
        int found = Arrays.binarySearch(cumulative, at);
        return found >= 0 ? found : -found - 1;
    }

    private long tiles(Random random) {
        long tiles = side(random) / TILE;
        return tiles * TILE;
    }

    private Shape drawn(Random random) {
        return switch (kind) {
            case TEXT ->
                    new Shape(
                            1 + random.nextInt(MOST_ROWS),
                            size(random, LEAST_TOKENS, MOST_TOKENS, 3.5, 0.8));
            case IMAGE -> new Shape(1, 3, side(random), side(random));
            case BATCH -> new Shape(1 + random.nextInt(4), 3, tiles(random), tiles(random));
            case LINE -> new Shape(1, 1, LINE_HEIGHT, size(random, LINE_HEIGHT, 640, 5, 0.7));
        };
    }

    private int side(Random random) {
        return size(random, 12, 44, 3.3, 0.35) * 8;
    }

    /** Log-normal ones beyond the limits are those limits. */
    private int size(Random random, int least, int most, double mean, double deviation) {
        return distribution == Distribution.UNIFORM
                ? least + random.nextInt(most - least + 1)
                : (int)
                        Math.max(
                                least,
                                Math.min(most, Math.exp(mean + deviation * random.nextGaussian())));
    }
}
