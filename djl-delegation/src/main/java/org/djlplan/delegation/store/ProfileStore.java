package org.djlplan.delegation.store;

import com.google.common.collect.ImmutableList;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.djlplan.delegation.table.ProfileTable;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.store.FolderStore;
import org.djlplan.memplan.store.Kept;
import org.djlplan.memplan.store.ModelFiles;

/** Where tables of measurements are kept: next to the model, or in its cache folder. */
public final class ProfileStore {

    private ProfileStore() {}

    /**
     * Returns the tables of a model; one with operators that the model does not have is damaged.
     */
    public static FolderStore<ProfileTable> of(DelegableModel model) {
        return at(
                new ProfileCodec(model.graph().operators().size(), Optional.empty()),
                model.file(),
                model.cacheFolder());
    }

    /**
     * Returns the tables of a model for one request; one that no measuring for this request can
     * have made is damaged, whatever its checksum.
     */
    public static FolderStore<ProfileTable> of(DelegableModel model, Wanted wanted) {
        return at(
                new ProfileCodec(model.graph().operators().size(), Optional.of(wanted)),
                model.file(),
                model.cacheFolder());
    }

    private static FolderStore<ProfileTable> at(
            ProfileCodec codec, Path modelFile, Path cacheFolder) {
        return FolderStore.at(codec, modelFile.toAbsolutePath().getParent(), cacheFolder);
    }

    /**
     * Returns all intact tables that are kept of a model file as it is now, each with what it
     * depends on. Their operators are not checked against the model's.
     *
     * @throws IOException if the model's file cannot be read
     */
    public static List<Kept<ProfileTable>> list(Path modelFile, Path cacheFolder)
            throws IOException {
        String content = ModelFiles.sampledContent(modelFile);
        return at(
                        new ProfileCodec(ProfileCodec.MOST_OPERATORS, Optional.empty()),
                        modelFile,
                        cacheFolder)
                .all(ProfileKeys.nameOf(modelFile))
                .stream()
                .filter(kept -> content.equals(kept.key().facts().get(ProfileKeys.CONTENT)))
                .collect(ImmutableList.toImmutableList());
    }
}
