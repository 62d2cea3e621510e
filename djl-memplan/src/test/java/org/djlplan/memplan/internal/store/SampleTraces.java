package org.djlplan.memplan.internal.store;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import org.djlplan.memplan.internal.budget.WeightTrace;
import org.djlplan.memplan.internal.budget.WeightUse;
import org.djlplan.thirdparty.guava.primitives.ImmutableLongArray;

/** Uses of weights to store, small or random. */
final class SampleTraces {

    static final StoreKey KEY = key("resnet18", "1x3x224x224:float32");

    static final Format<WeightTrace> FORMAT = new Format<>("weights", 3, WeightTrace.class);

    private SampleTraces() {}

    static StoreKey key(String model, String input) {
        return new StoreKey(model, Map.of("engine", "PyTorch 2.1.1", "input", input));
    }

    /** Two pieces, three steps, and a lookup. */
    static WeightTrace small() {
        return new WeightTrace(
                List.of(new WeightTrace.Piece(0, 8192), new WeightTrace.Piece(8192, 4096)),
                ImmutableLongArray.of(0, 777, 0),
                ImmutableLongArray.of(5, 6, 1234),
                List.of(new WeightUse(0, 0, 1, 8192), new WeightUse(1, 1, 2, 4096)),
                List.of(new WeightTrace.Lookup(new WeightTrace.Range(0, 1), 2, 2, 12_000)));
    }

    /** A trace with one step, whose bytes distinguish the trace. */
    static WeightTrace ofSize(long size) {
        return new WeightTrace(
                List.of(),
                ImmutableLongArray.of(size),
                ImmutableLongArray.of(1),
                List.of(),
                List.of());
    }

    static Arbitrary<WeightTrace> any() {
        return Combinators.combine(
                        Arbitraries.integers().between(1, 30),
                        Arbitraries.longs().between(0, Long.MAX_VALUE).list().ofSize(30),
                        Arbitraries.integers().between(0, 5).list().ofMaxSize(30))
                .as(SampleTraces::trace);
    }

    /** Piece i is used from step i on. */
    private static WeightTrace trace(int steps, List<Long> figures, List<Integer> lives) {
        List<WeightTrace.Piece> pieces = new ArrayList<>();
        List<WeightUse> uses = new ArrayList<>();
        for (int i = 0; i < Math.min(steps, lives.size()); i++) {
            pieces.add(new WeightTrace.Piece(4096L * i, 4096));
            uses.add(new WeightUse(i, i, Math.min(steps - 1, i + lives.get(i)), 4096));
        }
        ImmutableLongArray all = ImmutableLongArray.copyOf(figures.subList(0, steps));
        return new WeightTrace(pieces, all, all, uses, List.of());
    }

    static Arbitrary<StoreKey> anyKey() {
        Arbitrary<String> texts =
                Arbitraries.strings().ofMaxLength(12).filter(SampleTraces::isText);
        return Combinators.combine(
                        texts.filter(text -> !text.isEmpty()),
                        Arbitraries.maps(texts, texts).ofMaxSize(5))
                .as(StoreKey::new);
    }

    private static boolean isText(String text) {
        return text.codePoints().noneMatch(c -> c >= 0xd800 && c < 0xe000);
    }
}
