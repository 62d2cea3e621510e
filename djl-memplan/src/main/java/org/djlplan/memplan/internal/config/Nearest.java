package org.djlplan.memplan.internal.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Suggests the words that a user probably meant. */
public final class Nearest {

    private Nearest() {}

    /** Returns the candidate with the smallest edit distance (Levenshtein 1966). */
    public static String of(String word, Collection<String> candidates) {
        return candidates.stream().min(nearestTo(word)).orElseThrow();
    }

    /** Returns the candidates with the smallest edit distances, at most so many, nearest first. */
    public static List<String> of(String word, Collection<String> candidates, int most) {
        return candidates.stream().distinct().sorted(nearestTo(word)).limit(most).toList();
    }

    private static Comparator<String> nearestTo(String word) {
        Map<String, Integer> distances = new HashMap<>();
        return Comparator.comparingInt(
                        (String candidate) ->
                                distances.computeIfAbsent(candidate, c -> distance(word, c)))
                .thenComparing(Comparator.naturalOrder());
    }

    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int substituted = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(substituted, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[b.length()];
    }
}
