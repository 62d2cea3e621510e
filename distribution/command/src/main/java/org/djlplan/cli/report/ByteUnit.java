package org.djlplan.cli.report;

import java.util.Locale;

/** Units of sizes for people. */
enum ByteUnit {
    BYTES("B", 1),
    KIBIBYTES("KiB", 1L << 10),
    MEBIBYTES("MiB", 1L << 20),
    GIBIBYTES("GiB", 1L << 30);

    private final String symbol;
    private final long bytes;

    ByteUnit(String symbol, long bytes) {
        this.symbol = symbol;
        this.bytes = bytes;
    }

    String symbol() {
        return symbol;
    }

    long bytes() {
        return bytes;
    }

    /** Returns the largest unit that is not larger than {@code size}. */
    static ByteUnit of(long size) {
        ByteUnit unit = BYTES;
        for (ByteUnit each : values()) {
            unit = size >= each.bytes ? each : unit;
        }
        return unit;
    }

    /**
     * Returns a size with three significant digits, such as {@code 1.23 MiB}, or with all digits
     * before the point.
     */
    static String text(long size) {
        ByteUnit unit = of(size);
        double value = (double) size / unit.bytes;
        int decimals = unit == BYTES || value >= 100 ? 0 : value >= 10 ? 1 : 2;
        return String.format(Locale.ROOT, "%,." + decimals + "f %s", value, unit.symbol);
    }
}
