package org.djlplan.integration.networks;

/**
 * Conversions between 16-bit floats, which Java 17 does not have, and 32-bit floats; infinities,
 * NaN and larger values are not supported.
 */
final class Half {

    private static final float STEP = 0x1p-24f;
    private static final float SMALLEST_NORMAL = 0x1p-14f;

    private Half() {}

    static short of(float value) {
        int sign = value < 0 ? 0x8000 : 0;
        float size = Math.abs(value);
        if (size < SMALLEST_NORMAL) {
            return (short) (sign | (int) Math.rint(size / STEP));
        }
        int bits = Float.floatToIntBits(size);
        bits += 0xFFF + (bits >> 13 & 1);
        return (short) (sign | ((bits >> 13) - (112 << 10)));
    }

    static float toFloat(short half) {
        int bits = half & 0x7FFF;
        float size = bits < 0x400 ? bits * STEP : Float.intBitsToFloat((bits << 13) + (112 << 23));
        return half < 0 ? -size : size;
    }
}
