package org.djlplan.memplan.internal.runtime.torch;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.djlplan.memplan.internal.budget.WeightTrace;
import org.djlplan.memplan.internal.budget.WeightUse;

/**
 * Names the weights that make a budget too small, for messages. The engine does not report the
 * position of each weight in the file, so weights are recognized by their size.
 *
 * @param bytes the bytes of each weight, by name; called only when a budget is too small
 * @param blocks the position of each weight in the file
 */
record WeightNames(Supplier<Map<String, Long>> bytes, Supplier<List<WeightFile.Block>> blocks) {

    private static final int MOST = 3;

    /**
     * Returns the names, in parentheses, of the weights as large as the largest one that a step
     * uses; an empty text if they are not known.
     */
    String largest(WeightTrace trace, int step) {
        long largest = largestBytes(trace, step);
        List<String> alike =
                bytes.get().entrySet().stream()
                        .filter(named -> WeightFile.inPages(named.getValue()) == largest)
                        .map(Map.Entry::getKey)
                        .toList();
        if (alike.isEmpty()) {
            return "";
        }
        List<String> some = alike.subList(0, Math.min(MOST, alike.size()));
        return " ("
                + String.join(" or ", some)
                + (alike.size() > MOST ? " or one as large" : "")
                + ")";
    }

    private long largestBytes(WeightTrace trace, int step) {
        Set<Integer> used =
                trace.uses().stream()
                        .filter(use -> use.first() <= step && step <= use.last())
                        .map(WeightUse::piece)
                        .collect(Collectors.toSet());
        return blocks.get().stream()
                .filter(
                        block ->
                                used.stream()
                                        .map(trace.pieces()::get)
                                        .anyMatch(piece -> overlap(piece, block)))
                .mapToLong(WeightFile.Block::bytes)
                .max()
                .orElse(0);
    }

    private static boolean overlap(WeightTrace.Piece piece, WeightFile.Block block) {
        return piece.offsetBytes() < block.offsetBytes() + block.bytes()
                && block.offsetBytes() < piece.offsetBytes() + piece.bytes();
    }
}
