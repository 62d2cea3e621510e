package org.djlplan.delegation.internal.store;

import static org.djlplan.thirdparty.guava.base.Preconditions.checkArgument;

import com.google.gson.JsonParser;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.djlplan.thirdparty.guava.hash.Hashing;

/** Stored files, altered by an attacker who knows the format. */
final class Forgeries {

    /** Values that may replace a part. */
    static final List<String> VALUES =
            List.of(
                    "-1",
                    "0",
                    "1",
                    "9",
                    "10",
                    "2147483647",
                    "2147483648",
                    "9223372036854775807",
                    "-9223372036854775808",
                    "1.5",
                    "1e400",
                    "null",
                    "true",
                    "\"\"",
                    "\"FLOAT32\"",
                    "\"CRASHED\"",
                    "\"failed\"",
                    "\"NaN\"",
                    "[]",
                    "{}",
                    "[0,9]");

    private static final Pattern SCALAR = Pattern.compile("-?\\d+|\"[^\"]*\"|true|false");

    private Forgeries() {}

    /**
     * Replaces a number, a text or a name in a value, and corrects the checksum.
     *
     * @param kind the name of the value's part
     * @param place index of the part, modulo the number of such parts
     */
    static byte[] replaced(byte[] file, String kind, int place, String by) {
        String text = new String(file, StandardCharsets.UTF_8);
        String before = JsonParser.parseString(text).getAsJsonObject().get(kind).toString();
        List<MatchResult> scalars = SCALAR.matcher(before).results().toList();
        MatchResult scalar = scalars.get(Math.floorMod(place, scalars.size()));
        String after = before.substring(0, scalar.start()) + by + before.substring(scalar.end());
        return replaced(text, before, after);
    }

    /**
     * Replaces a part of a value, and corrects the checksum.
     *
     * @param kind the name of the value's part
     * @throws IllegalArgumentException if the value has no such part
     */
    static byte[] replaced(byte[] file, String kind, String part, String by) {
        String text = new String(file, StandardCharsets.UTF_8);
        String before = JsonParser.parseString(text).getAsJsonObject().get(kind).toString();
        checkArgument(before.contains(part), "no %s in %s", part, before);
        return replaced(text, before, before.replace(part, by));
    }

    private static byte[] replaced(String text, String before, String after) {
        return text.replace(before, after)
                .replace(sha256(before), sha256(after))
                .getBytes(StandardCharsets.UTF_8);
    }

    static String sha256(String text) {
        return Hashing.sha256().hashString(text, StandardCharsets.UTF_8).toString();
    }
}
