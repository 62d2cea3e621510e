package org.djlplan.memplan.internal.store;

import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import org.djlplan.thirdparty.guava.hash.Hashing;

/** Makes names of files and folders that people can read, and that every file system accepts. */
final class ReadableNames {

    private static final int LONGEST_READABLE_PART = 60;
    private static final int HASH_DIGITS = 16;

    /** A name made by {@link #of}, an ending, and the suffix of temporary files. */
    private static final Pattern TEMPORARY =
            Pattern.compile(
                    "[a-zA-Z0-9._-]{1,60}-[0-9a-f]{16}(?:[.][a-z]{1,16}){1,3}[.][0-9a-f]{1,16}[.]tmp");

    private ReadableNames() {}

    /**
     * Returns a name for {@code readable} that differs for different values of {@code identity}.
     */
    static String of(String readable, String identity) {
        String hash = Hashing.sha256().hashString(identity, StandardCharsets.UTF_8).toString();
        return start(readable) + hash.substring(0, HASH_DIGITS);
    }

    /** Returns whether {@link #of} may have made this name for {@code readable}. */
    static boolean mayBeOf(String readable, String name) {
        String start = start(readable);
        return name.startsWith(start)
                && name.length() == start.length() + HASH_DIGITS
                && isHash(name.substring(start.length()));
    }

    /** Returns whether a file name may consist of a name made by {@link #of} and an ending. */
    static boolean mayBeOf(String readable, String fileName, String ending) {
        return fileName.endsWith(ending)
                && mayBeOf(readable, fileName.substring(0, fileName.length() - ending.length()));
    }

    /**
     * Returns the temporary name under which a file is written.
     *
     * @param unique hexadecimal digits
     */
    static String temporary(String name, String unique) {
        return name + '.' + unique + ".tmp";
    }

    /** Returns the final name of a temporary file. */
    static String ofTemporary(String temporary) {
        String withUnique = temporary.substring(0, temporary.lastIndexOf('.'));
        return withUnique.substring(0, withUnique.lastIndexOf('.'));
    }

    /** Returns whether {@link #temporary} may have made this name from a name of {@link #of}. */
    static boolean isTemporary(String name) {
        return TEMPORARY.matcher(name).matches();
    }

    private static String start(String readable) {
        StringBuilder start = new StringBuilder();
        for (int i = 0; i < Math.min(readable.length(), LONGEST_READABLE_PART); i++) {
            char letter = readable.charAt(i);
            start.append(isSafe(letter) ? letter : '_');
        }
        return start.append('-').toString();
    }

    private static boolean isSafe(char letter) {
        return isBetween('a', letter, 'z')
                || isBetween('A', letter, 'Z')
                || isBetween('0', letter, '9')
                || letter == '.'
                || letter == '_'
                || letter == '-';
    }

    private static boolean isHash(String text) {
        for (int i = 0; i < text.length(); i++) {
            char digit = text.charAt(i);
            if (!isBetween('0', digit, '9') && !isBetween('a', digit, 'f')) {
                return false;
            }
        }
        return true;
    }

    private static boolean isBetween(char first, char letter, char last) {
        return first <= letter && letter <= last;
    }
}
