package org.djlplan.memplan.internal.runtime.torch;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.internal.budget.WeightTrace;
import org.djlplan.memplan.internal.store.FolderStore;
import org.djlplan.memplan.internal.store.Format;
import org.djlplan.memplan.internal.store.StoreKey;
import org.djlplan.thirdparty.guava.cache.CacheBuilder;
import org.djlplan.thirdparty.guava.cache.RemovalNotification;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * The kinds of predictions of a model whose weights are streamed, and the store of their
 * recordings. Guarded by the model's turn, except for {@link #keep}.
 */
final class StreamedKinds implements AutoCloseable {

    /** If a model sees more kinds of inputs, it forgets the least recently used ones. */
    static final int MOST = 64;

    static final Format<WeightTrace> FORMAT = new Format<>("weights", 3, WeightTrace.class);

    private final List<WeightTrace.Piece> pieces;
    private final Map<PredictionKind, StreamedKind> kinds =
            CacheBuilder.newBuilder()
                    .concurrencyLevel(1)
                    .maximumSize(MOST)
                    .removalListener(StreamedKinds::dropped)
                    .build()
                    .asMap();
    private volatile Optional<Kept> kept = Optional.empty();

    /** The store of recordings. */
    private record Kept(FolderStore<WeightTrace> store, StoreKey model) {

        StoreKey key(PredictionKind kind) {
            return new StoreKey(
                    model.model(),
                    ImmutableMap.<String, String>builder()
                            .putAll(model.facts())
                            .put("inputs", kind.inputs().toString())
                            .put("threads", Integer.toString(kind.threads()))
                            .buildOrThrow());
        }
    }

    /**
     * @param pieces of the model's weights; recordings of other pieces are not used
     */
    StreamedKinds(List<WeightTrace.Piece> pieces) {
        this.pieces = ImmutableList.copyOf(pieces);
    }

    /** Sets where recordings are stored. */
    void keep(FolderStore<WeightTrace> store, StoreKey model) {
        kept = Optional.of(new Kept(store, model));
    }

    /** Returns the predictions of a kind, which may have been recorded earlier. */
    StreamedKind of(PredictionKind kind) {
        return kinds.computeIfAbsent(kind, this::load);
    }

    private StreamedKind load(PredictionKind kind) {
        StreamedKind streamed = new StreamedKind(kind);
        kept.flatMap(known -> known.store().load(known.key(kind)))
                .filter(trace -> trace.pieces().equals(pieces))
                .ifPresent(streamed::learn);
        return streamed;
    }

    /** Stores a recording of such predictions. */
    void save(StreamedKind streamed, WeightTrace trace) {
        kept.ifPresent(known -> known.store().save(known.key(streamed.kind()), trace));
    }

    private static void dropped(RemovalNotification<PredictionKind, StreamedKind> notification) {
        notification.getValue().forget();
    }

    /** Forgets all kinds. */
    @Override
    public void close() {
        kinds.clear();
    }
}
