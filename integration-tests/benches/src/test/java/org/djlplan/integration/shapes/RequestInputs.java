package org.djlplan.integration.shapes;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/** Generates the inputs of numbered requests, with a distribution of shapes. */
final class RequestInputs {

    /** Tokens are numbers below this. */
    static final int WORDS = 4096;

    /** The order in which {@link Distribution#EVEN} sends its shapes. */
    private static final long EVEN_ORDER = 5;

    private static final int ZIPF_SHAPES = 200;
    private static final int MOST_ROWS = 8;
    private static final int LEAST_TOKENS = 5;
    private static final int MOST_TOKENS = 256;
    private static final int TILE = 32;
    private static final int LINE_HEIGHT = 32;
    private static final int ROW_TOKENS = 128;

    /** Spreads consecutive seeds, whose first random numbers would otherwise be similar. */
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    private final Kind kind;
    private final Distribution distribution;

    /** Sums of the harmonic series up to each rank. */
    private final double[] cumulative = new double[ZIPF_SHAPES];

    private final ImmutableList<Shape> even;

    /** The kinds of model inputs. */
    enum Kind {
        /** 1 to 8 rows of 5 to 256 tokens. */
        TEXT,
        /** A colour image, sides of 96 to 352 in steps of 8. */
        IMAGE,
        /**
         * 1 to 4 colour images, sides of 96 to 352 in steps of 32; 1 to 7 images for {@link
         * Distribution#EVEN}.
         */
        BATCH,
        /** A grey image of a line of text, 32 high and 32 to 640 wide. */
        LINE,
        /** As {@link #TEXT}, with a mask. */
        MASKED,
        /** 8 to 40 rows of 128 tokens. */
        ROWS,
        /** 1 MiB of numbers. */
        STATE;

        private Stream<Shape> everyShape() {
            return switch (this) {
                case TEXT, MASKED ->
                        sizes(1, MOST_ROWS, 1)
                                .flatMap(rows -> sizes(5, 254, 1).map(n -> new Shape(rows, n)));
                case IMAGE -> images(1, 8);
                case BATCH -> sizes(1, 7, 1).flatMap(rows -> images(rows, TILE));
                case LINE -> sizes(LINE_HEIGHT, 640, 1).map(n -> new Shape(1, 1, LINE_HEIGHT, n));
                case ROWS -> sizes(8, 40, 1).map(rows -> new Shape(rows, ROW_TOKENS));
                case STATE -> Stream.of(new Shape(256, 1024));
            };
        }

        /** Returns the shape of {@link Distribution#ONE}. */
        private Shape one() {
            return switch (this) {
                case TEXT, MASKED -> new Shape(1, 128);
                case IMAGE -> new Shape(1, 3, 224, 224);
                case BATCH -> new Shape(4, 3, 224, 224);
                case LINE -> new Shape(1, 1, LINE_HEIGHT, 256);
                case ROWS -> new Shape(24, ROW_TOKENS);
                case STATE -> new Shape(256, 1024);
            };
        }

        private static Stream<Shape> images(long rows, int step) {
            return sizes(96, 352, step)
                    .flatMap(
                            height ->
                                    sizes(96, 352, step)
                                            .map(width -> new Shape(rows, 3, height, width)));
        }

        private static Stream<Long> sizes(long first, long last, int step) {
            return LongStream.iterate(first, n -> n <= last, n -> n + step).boxed();
        }
    }

    /** The distribution of sizes. */
    enum Distribution {
        /** All requests have the same shape. */
        ONE,
        LOG_NORMAL,
        UNIFORM,
        /** The r-th of 200 shapes is 1/r times as frequent as the first. */
        ZIPF,
        /**
         * Every shape occurs once, in a random order, before the first one recurs: 2,000 shapes of
         * texts, 567 of batches, 1,089 of images, 609 of lines.
         */
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
        List<Shape> shapes = new ArrayList<>(kind.everyShape().toList());
        Collections.shuffle(shapes, new Random(EVEN_ORDER));
        even = ImmutableList.copyOf(shapes);
    }

    private static Random random(long number) {
        return new Random(SPREAD * (number + 1));
    }

    NDList create(NDManager manager, int request) {
        Random random = random(request);
        Shape shape = shape(random, request);
        int elements = Math.toIntExact(shape.size());
        if (kind == Kind.TEXT || kind == Kind.MASKED || kind == Kind.ROWS) {
            NDList tokens =
                    new NDList(manager.create(random.longs(elements, 0, WORDS).toArray(), shape));
            if (kind == Kind.MASKED) {
                tokens.add(manager.ones(shape, DataType.INT64));
            }
            return tokens;
        }
        float[] values = new float[elements];
        IntStream.range(0, elements).forEach(i -> values[i] = random.nextFloat());
        return new NDList(manager.create(values, shape));
    }

    private Shape shape(Random random, int request) {
        return switch (distribution) {
            case ONE -> kind.one();
            case LOG_NORMAL, UNIFORM -> drawn(random);
            case ZIPF -> drawn(random(rank(random)));
            case EVEN -> even.get(request % even.size());
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
            case TEXT, MASKED ->
                    new Shape(
                            1 + random.nextInt(MOST_ROWS),
                            size(random, LEAST_TOKENS, MOST_TOKENS, 3.5, 0.8));
            case IMAGE -> new Shape(1, 3, side(random), side(random));
            case BATCH -> new Shape(1 + random.nextInt(4), 3, tiles(random), tiles(random));
            case LINE -> new Shape(1, 1, LINE_HEIGHT, size(random, LINE_HEIGHT, 640, 5, 0.7));
            case ROWS -> new Shape(8 + random.nextInt(33), ROW_TOKENS);
            case STATE -> kind.one();
        };
    }

    private int side(Random random) {
        return size(random, 12, 44, 3.3, 0.35) * 8;
    }

    /** Log-normal sizes are cut off at the limits. */
    private int size(Random random, int least, int most, double mean, double deviation) {
        return distribution == Distribution.UNIFORM
                ? least + random.nextInt(most - least + 1)
                : (int)
                        Math.max(
                                least,
                                Math.min(most, Math.exp(mean + deviation * random.nextGaussian())));
    }
}
