package org.djlplan.memplan.child;

import java.io.IOException;
import java.io.Reader;
import java.util.function.Consumer;

/** Reads lines of whatever length, of which the rest is dropped: a child may write anything. */
final class CutLines {

    /** Enough for an answer about 100,000 operators. */
    private static final int LONGEST = 16 << 20;

    private CutLines() {}

    /** Hands on each line without its end, until the input ends. */
    static void forEach(Reader in, Consumer<String> taker) throws IOException {
        forEach(in, LONGEST, taker);
    }

    static void forEach(Reader in, int longest, Consumer<String> taker) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c >= 0; c = in.read()) {
            if (c == '\n') {
                taker.accept(line.toString());
                line = new StringBuilder();
            } else if (line.length() < longest) {
                line.append((char) c);
            }
        }
        if (!line.isEmpty()) {
            taker.accept(line.toString());
        }
    }
}
