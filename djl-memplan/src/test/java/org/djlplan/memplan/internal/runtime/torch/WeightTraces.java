package org.djlplan.memplan.internal.runtime.torch;

import java.util.ArrayList;
import java.util.List;
import org.djlplan.memplan.internal.budget.WeightTrace;
import org.djlplan.memplan.internal.budget.WeightUse;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/** Recordings of the weights that predictions use, for tests. */
final class WeightTraces {

    /** Size of each piece. */
    static final long PIECE_BYTES = 256 * WeightUse.PAGE_BYTES;

    private WeightTraces() {}

    /** Returns consecutive pieces of the same size. */
    static List<WeightTrace.Piece> pieces(int count) {
        List<WeightTrace.Piece> pieces = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            pieces.add(new WeightTrace.Piece(i * PIECE_BYTES, PIECE_BYTES));
        }
        return pieces;
    }

    /**
     * Returns a recording in which step i uses the given number of pieces; no piece is used twice.
     */
    static WeightTrace of(int... piecesOfSteps) {
        List<WeightUse> uses = new ArrayList<>();
        ImmutableLongArray.Builder zeros = ImmutableLongArray.builder();
        int piece = 0;
        for (int step = 0; step < piecesOfSteps.length; step++) {
            zeros.add(0);
            for (int i = 0; i < piecesOfSteps[step]; i++) {
                uses.add(new WeightUse(piece++, step, step, PIECE_BYTES));
            }
        }
        return new WeightTrace(pieces(piece), zeros.build(), zeros.build(), uses, List.of());
    }
}
