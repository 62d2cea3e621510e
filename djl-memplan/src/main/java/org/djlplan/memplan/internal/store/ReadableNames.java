package org.djlplan.memplan.internal.store;

import java.nio.charset.StandardCharsets;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.djlplan.thirdparty.guava.base.Ascii;
import org.djlplan.thirdparty.guava.hash.Hashing;

/** Makes names of files and folders that people can read, and that every file system accepts. */
final class ReadableNames {

    private static final int LONGEST_READABLE_PART = 60;
    private static final int HASH_DIGITS = 16;

    /** A name made by {@link #of}, an ending, and the suffix of temporary files. */
    private static final Pattern TEMPORARY =
            Pattern.compile(
                    "[a-zA-Z0-9._-]{1,60}-[0-9a-f]{16}(?:[.][a-z]{1,16}){1,3}[.][0-9a-f]{1,16}[.]tmp");

    private static final Pattern UNSAFE = Pattern.compile("[^a-zA-Z0-9._-]");

    private ReadableNames() {}

    /**
     * Returns a name for {@code readable} that differs for different values of {@code identity}.
     */
    static String of(String readable, String identity) {
        String hash = Hashing.sha256().hashString(identity, StandardCharsets.UTF_8).toString();
        return start(readable) + hash.substring(0, HASH_DIGITS);
    }

    /** Returns which file names may consist of a name made by {@link #of} and an ending. */
    static Predicate<String> namesOf(String readable, String ending) {
        return Pattern.compile(
                        Pattern.quote(start(readable)) + "[0-9a-f]{16}" + Pattern.quote(ending))
                .asMatchPredicate();
    }

    /**
     * Returns the temporary name under which a file is written.
     *
     * @param unique hexadecimal digits
     */
    static String temporary(String name, String unique) {
        return name + '.' + unique + ".tmp";
    }

    /** Returns whether {@link #temporary} may have made this name from a name of {@link #of}. */
    static boolean isTemporary(String name) {
        return TEMPORARY.matcher(name).matches();
    }

    private static String start(String readable) {
        String part = Ascii.truncate(readable, LONGEST_READABLE_PART, "");
        return UNSAFE.matcher(part).replaceAll("_") + '-';
    }
}
