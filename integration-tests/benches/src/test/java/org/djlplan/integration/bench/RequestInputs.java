package org.djlplan.integration.bench;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.djlplan.thirdparty.guava.collect.ImmutableList;

/**
 * The inputs of numbered requests. All requests take their values from one buffer, so that making
 * them takes hardly any time or memory.
 */
final class RequestInputs {

    /** Tokens are numbers below this. */
    private static final int WORDS = 1000;

    private static final int MOST_ELEMENTS = 4 << 20;
    private static final int OFFSETS = 4096;

    /** The order in which {@link Distribution#EVEN} sends its shapes. */
    private static final long EVEN_ORDER = 5;

    private static final int ZIPF_SHAPES = 200;
    private static final int FEW = 8;
    private static final int TILE = 32;

    /** Spreads consecutive seeds, whose first random numbers would otherwise be similar. */
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    /** The kinds of inputs: what they are, and a shape that is typical. */
    @SuppressWarnings("ImmutableEnumChecker") // shapes do not change
    private enum Kind {
        /** 1 to 8 rows of 5 to 256 tokens. */
        TEXT(1, 128),
        /** As {@link #TEXT}, with a mask. */
        MASKED(1, 128),
        /** 8 to 40 rows of 128 tokens. */
        ROWS(24, 128),
        /** A colour image, sides of 96 to 352 in steps of 8. */
        IMAGE(1, 3, 224, 224),
        /**
         * 1 to 4 colour images, sides of 96 to 352 in steps of 32; 1 to 7 images for {@link
         * Distribution#EVEN}.
         */
        BATCH(4, 3, 224, 224),
        /** A colour image, sides of 32 to 960 in steps of 32. */
        SCENE(1, 3, 640, 640),
        /** A colour image of a line of text, 48 high and 32 to 1224 wide. */
        WORD(1, 3, 48, 320),
        /** A grey image of a line of text, 32 high and 32 to 640 wide. */
        LINE(1, 1, 32, 256),
        /** 1 MiB of numbers. */
        STATE(256, 1024),
        /**
         * An image of an image pyramid, each level with 0.709 times the sides of the one before.
         */
        PYRAMID(1, 1280, 960, 3),
        /** Samples of sound: 0.1 to 4 s. */
        SOUND(1, 16000),
        /** 1 to 24 rows of 76 frames of a spectrum. */
        FRAMES(1, 76, 32, 1);

        private final Shape one;

        Kind(long... one) {
            this.one = new Shape(one);
        }

        private boolean isTokens() {
            return this == TEXT || this == MASKED || this == ROWS;
        }

        private Stream<Shape> everyShape() {
            return switch (this) {
                case TEXT, MASKED ->
                        sizes(1, 8, 1)
                                .flatMap(rows -> sizes(5, 254, 1).map(n -> new Shape(rows, n)));
                case IMAGE -> images(1, 8);
                case BATCH -> sizes(1, 7, 1).flatMap(rows -> images(rows, TILE));
                case LINE -> sizes(32, 640, 1).map(n -> new Shape(1, 1, 32, n));
                case ROWS -> sizes(8, 40, 1).map(rows -> new Shape(rows, 128));
                default -> Stream.of(one);
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

    /** How often shapes occur. */
    private enum Distribution {
        /** The typical one each time. */
        ONE,
        /** Sizes are log-normal. */
        LOG_NORMAL,
        /** All sizes are as frequent. */
        UNIFORM,
        /** 200 shapes, the n-th of which is n times as rare as the first. */
        ZIPF,
        /** Every shape, one after the other, in mixed order. */
        EVEN,
        /** Eight shapes at random. */
        FEW,
        /** Two shapes in turn. */
        TWO
    }

    private final Kind kind;
    private final Distribution distribution;
    private final List<Shape> fixed = new ArrayList<>();
    private final List<Boolean> tokens = new ArrayList<>();
    private final ImmutableList<Shape> even;
    private final double[] cumulative = new double[ZIPF_SHAPES];
    private final ByteBuffer values = ByteBuffer.allocateDirect(MOST_ELEMENTS * Float.BYTES);
    private final ByteBuffer words = ByteBuffer.allocateDirect((1 << 16) * Long.BYTES);

    /**
     * @param inputs a kind and a distribution, such as {@code text/zipf}, or shapes such as {@code
     *     f1x3x224x224} (floats) and {@code i1x32} (tokens), joined by {@code +}
     */
    RequestInputs(String inputs) {
        boolean shapes = inputs.matches("[fi]\\d.*");
        String[] names = (shapes ? "image/one" : inputs).toUpperCase(Locale.ROOT).split("/", 2);
        kind = Kind.valueOf(names[0]);
        distribution = Distribution.valueOf(names[1]);
        for (String shape : shapes ? inputs.split("\\+", -1) : new String[0]) {
            tokens.add(shape.startsWith("i"));
            fixed.add(
                    new Shape(
                            Arrays.stream(shape.substring(1).split("x", -1))
                                    .mapToLong(Long::parseLong)
                                    .toArray()));
        }
        List<Shape> all = new ArrayList<>(kind.everyShape().toList());
        Collections.shuffle(all, new Random(EVEN_ORDER));
        even = ImmutableList.copyOf(all);
        double sum = 0;
        for (int i = 0; i < ZIPF_SHAPES; i++) {
            sum += 1.0 / (i + 1);
            cumulative[i] = sum;
        }
        Random random = new Random(1);
        values.order(ByteOrder.nativeOrder());
        words.order(ByteOrder.nativeOrder());
        while (values.hasRemaining()) {
            values.putFloat(random.nextFloat());
        }
        while (words.hasRemaining()) {
            words.putLong(random.nextInt(WORDS));
        }
    }

    private static Random random(long number) {
        return new Random(SPREAD * (number + 1));
    }

    NDList create(NDManager manager, int request) {
        NDList inputs = new NDList();
        for (int i = 0; i < fixed.size(); i++) {
            inputs.add(
                    manager.create(
                            data(fixed.get(i), tokens.get(i), request),
                            fixed.get(i),
                            type(tokens.get(i))));
        }
        if (fixed.isEmpty()) {
            Shape shape = shape(request);
            boolean isTokens = kind.isTokens();
            inputs.add(manager.create(data(shape, isTokens, request), shape, type(isTokens)));
            if (kind == Kind.MASKED) {
                inputs.add(manager.ones(shape, DataType.INT64));
            }
        }
        return inputs;
    }

    private static DataType type(boolean isTokens) {
        return isTokens ? DataType.INT64 : DataType.FLOAT32;
    }

    /** Returns the values of a request, which begin at an offset of its own. */
    private Buffer data(Shape shape, boolean isTokens, int request) {
        int bytes = Math.toIntExact(shape.size()) * (isTokens ? Long.BYTES : Float.BYTES);
        int offset = (int) (request * 31L % OFFSETS) * Long.BYTES;
        ByteBuffer all = isTokens ? words : values;
        return all.slice(offset, bytes).order(ByteOrder.nativeOrder());
    }

    /** Returns the shape of a request's first input. */
    Shape shape(int request) {
        Random random = random(request);
        return switch (distribution) {
            case ONE -> kind.one;
            case LOG_NORMAL, UNIFORM -> drawn(random);
            case ZIPF -> drawn(random(rank(random)));
            case EVEN -> even.get(request % even.size());
            case FEW -> drawn(random(random.nextInt(FEW)));
            case TWO -> drawn(random(request % 2));
        };
    }

    private int rank(Random random) {
        double at = random.nextDouble() * cumulative[ZIPF_SHAPES - 1];
        int found = Arrays.binarySearch(cumulative, at);
        return found >= 0 ? found : -found - 1;
    }

    private Shape drawn(Random random) {
        return switch (kind) {
            case TEXT, MASKED -> new Shape(1 + random.nextInt(8), size(random, 5, 256, 3.5, 0.8));
            case ROWS -> new Shape(8 + random.nextInt(33), 128);
            case IMAGE -> new Shape(1, 3, side(random), side(random));
            case BATCH -> new Shape(1 + random.nextInt(4), 3, tiles(random), tiles(random));
            case SCENE ->
                    new Shape(1, 3, 32L * (1 + random.nextInt(30)), 32L * (1 + random.nextInt(30)));
            case WORD -> new Shape(1, 3, 48, 32 + 8L * random.nextInt(150));
            case LINE -> new Shape(1, 1, 32, size(random, 32, 640, 5, 0.7));
            case STATE -> kind.one;
            case PYRAMID -> {
                double scale = Math.pow(0.709, random.nextInt(6));
                long height = Math.max(12, (long) ((120 + 8 * random.nextInt(46)) * scale));
                long width = Math.max(12, (long) ((120 + 8 * random.nextInt(46)) * scale));
                yield new Shape(1, height, width, 3);
            }
            case SOUND -> new Shape(1, 1600 + 160L * random.nextInt(390));
            case FRAMES -> new Shape(1 + random.nextInt(24), 76, 32, 1);
        };
    }

    private long tiles(Random random) {
        return side(random) / TILE * TILE;
    }

    private long side(Random random) {
        return size(random, 12, 44, 3.3, 0.35) * 8;
    }

    /** Log-normal sizes are cut off at the limits. */
    private long size(Random random, int least, int most, double mean, double deviation) {
        return distribution == Distribution.UNIFORM
                ? least + random.nextInt(most - least + 1)
                : (long)
                        Math.max(
                                least,
                                Math.min(most, Math.exp(mean + deviation * random.nextGaussian())));
    }
}
