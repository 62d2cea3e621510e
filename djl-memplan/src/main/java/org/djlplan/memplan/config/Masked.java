package org.djlplan.memplan.config;

import java.util.regex.Pattern;

/** Texts as they may be told: what lets somebody in is left out of URLs. */
public final class Masked {

    /** A password may have any character, also some that no URL has. */
    private static final Pattern USER = Pattern.compile("(://).*@", Pattern.DOTALL);

    /** Signed URLs of object stores have their signature there. */
    private static final Pattern QUERY = Pattern.compile("(://[^?#]*[?#]).*", Pattern.DOTALL);

    private Masked() {}

    /** Returns a text with three dots for the user, the password and the query of a URL. */
    public static String text(String text) {
        return QUERY.matcher(USER.matcher(text).replaceFirst("$1…@")).replaceFirst("$1…");
    }
}
