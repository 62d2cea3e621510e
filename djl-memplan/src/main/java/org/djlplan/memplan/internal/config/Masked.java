package org.djlplan.memplan.internal.config;

import java.util.regex.Pattern;

/** Removes credentials in URLs from texts for logs and messages. */
public final class Masked {

    /** A password may contain any character, including characters that are invalid in URLs. */
    private static final Pattern USER = Pattern.compile("(://).*@", Pattern.DOTALL);

    /** Signed URLs of object stores have their signature in the query. */
    private static final Pattern QUERY = Pattern.compile("(://[^?#]*[?#]).*", Pattern.DOTALL);

    private Masked() {}

    /** Returns a text with three dots in place of the user, the password and the query of a URL. */
    public static String text(String text) {
        return QUERY.matcher(USER.matcher(text).replaceFirst("$1…@")).replaceFirst("$1…");
    }
}
