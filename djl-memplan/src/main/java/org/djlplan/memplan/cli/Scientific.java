package org.djlplan.memplan.cli;

import java.util.Locale;

/** Small numbers as people write them: 4.2e-6. */
final class Scientific {

    private Scientific() {}

    /** Returns a number with two digits, or one where the second is zero. */
    static String text(double number) {
        if (number == 0 || !Double.isFinite(number)) {
            return number == 0 ? "0" : "more than any number";
        }
        return String.format(Locale.ROOT, "%.1e", number)
                .replace(".0e", "e")
                .replaceFirst("e([+-])0*(\\d)", "e$1$2")
                .replace("e+", "e");
    }
}
