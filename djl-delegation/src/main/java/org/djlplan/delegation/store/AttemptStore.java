package org.djlplan.delegation.store;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.store.CheckedJson;
import org.djlplan.memplan.store.Codec;
import org.djlplan.memplan.store.FolderStore;

/** What is kept of measuring that goes on: next to the model, or in its cache folder. */
public final class AttemptStore {

    private AttemptStore() {}

    /**
     * A mark that measuring has begun; removed when it ends, however it does, unless the JVM is
     * killed.
     *
     * @param circumstances in which another attempt would end the same way
     * @param attempts how many of them ended so, or go on
     */
    public record Mark(String circumstances, int attempts) {}

    /** Returns the marks of a model. */
    public static FolderStore<Mark> marks(DelegableModel model) {
        return FolderStore.at(
                new MarkCodec(), model.file().toAbsolutePath().getParent(), model.cacheFolder());
    }

    /**
     * Returns what was found out of a model before measuring was interrupted; what no measuring for
     * this request can have found out is damaged, whatever its checksum.
     */
    public static FolderStore<PartialResult> partialResults(DelegableModel model, Wanted wanted) {
        return FolderStore.at(
                new PartialCodec(wanted),
                model.file().toAbsolutePath().getParent(),
                model.cacheFolder());
    }

    /** Marks in files. */
    private static final class MarkCodec implements Codec<Mark> {

        @Override
        public String kind() {
            return "measuring-mark";
        }

        @Override
        public int version() {
            return 1;
        }

        @Override
        public String ending() {
            return ".measuring.json";
        }

        @Override
        public void write(JsonWriter json, Mark mark) throws IOException {
            json.beginObject().name("circumstances").value(mark.circumstances());
            json.name("attempts").value(mark.attempts()).endObject();
        }

        @Override
        public Mark read(CheckedJson json) throws IOException {
            json.beginObject();
            String circumstances = json.expect("circumstances").nextString();
            int attempts = json.expect("attempts").nextInt();
            json.endObject();
            return new Mark(circumstances, attempts);
        }

        /** Whatever it says, the worst that comes of it is that nothing is measured. */
        @Override
        public void check(Mark mark) {}
    }
}
