package org.djlplan.memplan.internal.source.torchscript;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * Reads the classes of a TorchScript archive's modules, and the records that hold their tensors,
 * from {@code data.pkl}. The pickle is scanned, not executed: a class is named before its module is
 * created, a module is complete when its state is built, and the keys of its records lie in
 * between.
 *
 * <p>The format is Python's <a href="https://docs.python.org/3/library/pickletools.html">pickle
 * protocol 2</a>; the engine uses a part of it.
 */
final class ModulePickle {

    private final ByteBuffer bytes;
    private final Map<Integer, String> memo = new HashMap<>();
    private final Map<String, Long> largest = new HashMap<>();
    private final Deque<String> modules = new ArrayDeque<>();

    /** The last pushed string or class, and the one before it. */
    private String last = "";

    private String beforeLast = "";
    private String lastClass = "";

    private ModulePickle(byte[] pickle) {
        bytes = ByteBuffer.wrap(pickle).order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Returns the size of the largest record of each class of modules, by its qualified name.
     *
     * @param recordBytes the size of each record, by its key
     * @throws IOException if the file is not in the engine's format
     */
    static ImmutableMap<String, Long> largestRecords(byte[] pickle, Map<String, Long> recordBytes)
            throws IOException {
        ModulePickle walk = new ModulePickle(pickle);
        try {
            walk.run(recordBytes);
        } catch (BufferUnderflowException | IllegalArgumentException e) {
            throw new IOException("a pickle that ends too early", e);
        }
        return ImmutableMap.copyOf(walk.largest);
    }

    private void run(Map<String, Long> recordBytes) throws IOException {
        while (bytes.hasRemaining()) {
            int code = bytes.get() & 0xFF;
            switch (code) {
                case 'c' -> pushClass(line() + '.' + line());
                case 'X' -> push(text(bytes.getInt()));
                case 'h' -> pushAgain(bytes.get() & 0xFF);
                case 'j' -> pushAgain(bytes.getInt());
                case 'q' -> memo.put(bytes.get() & 0xFF, last);
                case 'r' -> memo.put(bytes.getInt(), last);
                case 0x81 -> modules.push(lastClass);
                case 'b' -> modules.poll();
                case 'Q' -> note(recordBytes);
                default -> skip(code);
            }
        }
    }

    private void push(String text) {
        beforeLast = last;
        last = text;
    }

    private void pushClass(String name) {
        lastClass = name;
        last = name;
    }

    private void pushAgain(int number) {
        String text = memo.getOrDefault(number, "");
        if (text.startsWith("__torch__.")) {
            pushClass(text);
        } else {
            push(text);
        }
    }

    /** The persistent id of a storage ends with its key, its device and its number of elements. */
    private void note(Map<String, Long> recordBytes) {
        String module = modules.isEmpty() ? "" : modules.peek();
        largest.merge(module, recordBytes.getOrDefault(beforeLast, 0L), Math::max);
    }

    /** Skips the operands of codes that push irrelevant values. */
    private void skip(int code) throws IOException {
        int operand =
                switch (code) {
                    case 0x80, 'K' -> 1;
                    case 'M' -> 2;
                    case 'J' -> 4;
                    case 'G' -> 8;
                    case 0x8a -> bytes.get() & 0xFF;
                    case ')',
                            '}',
                            ']',
                            '(',
                            't',
                            'R',
                            'u',
                            's',
                            'e',
                            'a',
                            'l',
                            'd',
                            '0',
                            '1',
                            '2',
                            'N',
                            '.',
                            0x85,
                            0x86,
                            0x87,
                            0x88,
                            0x89 ->
                            0;
                    default -> throw new IOException("a pickle with code " + code);
                };
        bytes.position(bytes.position() + operand);
    }

    private String line() {
        int begin = bytes.position();
        while (bytes.get() != '\n') {
            // goes on
        }
        int end = bytes.position() - 1;
        return new String(bytes.array(), begin, end - begin, StandardCharsets.UTF_8);
    }

    private String text(int length) throws IOException {
        if (length < 0 || length > bytes.remaining()) {
            throw new IOException("a text of " + length + " bytes");
        }
        byte[] text = new byte[length];
        bytes.get(text);
        return new String(text, StandardCharsets.UTF_8);
    }
}
